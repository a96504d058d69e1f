import type { ReactNode } from "react";
import type { TryItOperation } from "../../try-it/operation.ts";
import { TryItForm } from "../../try-it/TryItForm.tsx";

/**
 * Renders the panel beside an operation. Replaces the panel of the theme, whose script has 1.4 MB, because most of this
 * script is for programming languages that the site does not show.
 */
export default function ApiExplorer({ item }: { item: TryItOperation }): ReactNode {
  return item.method === "event" ? null : <TryItForm key={item.operationId} operation={item} />;
}
