import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

interface LinkRowProps {
  label: string;
  className: "navigation" | "view-tabs";
  children: ReactNode;
}

/** Links to views. In a row that is wider than a phone, the link to the current view is scrolled to its middle. */
export function LinkRow({ label, className, children }: LinkRowProps) {
  const row = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each view has another link.
  useEffect(() => {
    // With the next frame, so that the view requests its data before the browser computes the layout.
    const frame = requestAnimationFrame(() => {
      const current = row.current?.querySelector('[aria-current="page"]');
      if (!row.current || !current) return;
      const [outer, inner] = [row.current.getBoundingClientRect(), current.getBoundingClientRect()];
      // `scrollIntoView` would scroll the page, too.
      row.current.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
    });
    return () => cancelAnimationFrame(frame);
  }, [pathname]);
  return (
    <nav ref={row} className={`${className} link-row`} aria-label={label}>
      {children}
    </nav>
  );
}
