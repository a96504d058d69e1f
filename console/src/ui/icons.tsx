import type { ReactNode } from "react";

const createIcon = (paths: ReactNode) => () => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    {paths}
  </svg>
);

export const ChevronIcon = createIcon(<path d="m4 6 4 4 4-4" />);
export const SystemIcon = createIcon(
  <>
    <rect x="2" y="3" width="12" height="8" rx="1" />
    <path d="M6 13.5h4" />
  </>,
);
export const SunIcon = createIcon(
  <>
    <circle cx="8" cy="8" r="2.75" />
    <path d="M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1" />
  </>,
);
export const MoonIcon = createIcon(<path d="M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6Z" />);
