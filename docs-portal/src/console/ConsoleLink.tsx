import Link from "@docusaurus/Link";
import useIsBrowser from "@docusaurus/useIsBrowser";
import type { ReactNode } from "react";
import { consoleUrl } from "./console-url.ts";

/** Renders a link to the console of this installation, or nothing if it has none. */
export function ConsoleLink(): ReactNode {
  // The build renders nothing, because it does not know whether the installation has a console.
  if (!useIsBrowser() || consoleUrl === undefined) return null;
  return (
    <p>
      <Link className="button button--secondary" href={consoleUrl}>
        Open the console
      </Link>
    </p>
  );
}
