import type { ClientModule } from "@docusaurus/types";

/*
 * Scrolls the sidebar so that the item of the current page is visible. Only the sidebar scrolls: the page and the focus
 * stay where they are.
 */

const revealSidebarItemModule: ClientModule = {
  onRouteDidUpdate({ location, previousLocation }) {
    // The next page marks its item in the same update, but the browser lays it out afterwards.
    if (location.pathname !== previousLocation?.pathname) requestAnimationFrame(revealSidebarItem);
  },
};

export default revealSidebarItemModule;

function revealSidebarItem(): void {
  const sidebar = document.querySelector(".theme-doc-sidebar-container nav.menu");
  const item = sidebar?.querySelector(".menu__link--active:not(.menu__link--sublist)");
  if (!sidebar || !item) return;
  const frame = sidebar.getBoundingClientRect();
  const { top, bottom, height } = item.getBoundingClientRect();
  const isVisible = top >= frame.top && bottom <= Math.min(frame.bottom, window.innerHeight);
  if (!isVisible) sidebar.scrollTop += top - frame.top - (sidebar.clientHeight - height) / 2;
}
