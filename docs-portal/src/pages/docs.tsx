import { Redirect } from "@docusaurus/router";
import type { ReactNode } from "react";

/** Redirects `/docs`, which has no page, to the first guide. */
export default function Docs(): ReactNode {
  return <Redirect to="/docs/getting-started" />;
}
