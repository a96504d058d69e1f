/*
 * A part of the first page that does not load leaves the page as the server made it: readable, but dead, and nobody is
 * told. This tells, and offers to try again.
 */

if (typeof window !== "undefined") {
  window.addEventListener("unhandledrejection", ({ reason }) => {
    const isPartOfPage = reason instanceof Error && reason.name === "ChunkLoadError";
    // Once the page is alive the framework deals with what fails.
    if (isPartOfPage && !("docusaurusRoot" in window)) showNotice(reason.message);
  });
}

function showNotice(story: string): void {
  const notice = document.createElement("div");
  notice.className = "failed-load";
  notice.setAttribute("role", "alert");
  const text = document.createElement("p");
  text.textContent = `This page did not load as a whole. ${story}`;
  const retry = document.createElement("button");
  retry.type = "button";
  retry.className = "button button--primary";
  retry.textContent = "Retry";
  retry.addEventListener("click", () => window.location.reload());
  notice.append(text, retry);
  document.body.prepend(notice);
}
