import type { ReactNode } from "react";
import type { Operation } from "../../try-it/operation.ts";
import { TryIt } from "../../try-it/TryIt.tsx";

/**
 * Renders the panel beside an operation. Replaces the panel of the theme, whose script has 1.4 MB, because most of this
 * script is for programming languages that the site does not show.
 */
export default function ApiExplorer({ item }: { item: Operation }): ReactNode {
  return item.method === "event" ? null : <TryIt key={item.operationId} operation={item} />;
}
