import { Redirect } from "@docusaurus/router";
import type { ReactNode } from "react";

/** `/docs` has no page of its own. */
export default function Docs(): ReactNode {
  return <Redirect to="/docs/getting-started" />;
}
