// Runs before the first paint, so that a dark page never flashes white. It is
// a file of its own because the page's policy forbids inline scripts.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("checkstack.theme") ?? "system";
  } catch {
    // Storage may be blocked; the system's setting is then the answer.
  }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
