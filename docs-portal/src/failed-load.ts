/*
 * Shows a notice with a retry button if a script of the first page fails to load. Without the script, the page is
 * readable but not interactive, and the framework shows no error.
 */

if (typeof window !== "undefined") {
  window.addEventListener("unhandledrejection", ({ reason }) => {
    const isChunkLoadError = reason instanceof Error && reason.name === "ChunkLoadError";
    // Later load errors are ignored, because the framework handles them once the page is interactive.
    if (isChunkLoadError && !("docusaurusRoot" in window)) showNotice(reason.message);
  });
}

function showNotice(message: string): void {
  const notice = document.createElement("div");
  notice.className = "failed-load";
  notice.setAttribute("role", "alert");
  const text = document.createElement("p");
  text.textContent = `This page did not load completely. ${message}`;
  const retry = document.createElement("button");
  retry.type = "button";
  retry.className = "button button--primary";
  retry.textContent = "Retry";
  retry.addEventListener("click", () => window.location.reload());
  notice.append(text, retry);
  document.body.prepend(notice);
}
