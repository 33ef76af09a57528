(function () {
  "use strict";
  var box = document.getElementById("refresh"), key = "lanner-monitor:" + location.pathname, state = {};
  try { state = JSON.parse(sessionStorage.getItem(key) || "{}"); } catch (e) { state = {}; }
  var all = document.querySelectorAll("details");
  (state.open || []).forEach(function (id) {
    var inside = document.getElementById(id);
    if (inside && inside.parentElement.tagName === "DETAILS") { inside.parentElement.open = true; }
  });
  if (state.off) { box.checked = false; }
  if (state.y) { window.scrollTo(0, state.y); }
  function keep() {
    var open = [];
    all.forEach(function (d) { if (d.open) { open.push(d.lastElementChild.id); } });
    try { sessionStorage.setItem(key, JSON.stringify({open: open, off: !box.checked, y: window.scrollY})); } catch (e) { return; }
  }
  box.addEventListener("change", keep);
  setInterval(function () { if (box.checked) { keep(); location.reload(); } }, SECONDS * 1000);
})();
