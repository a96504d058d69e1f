import type { ReactNode } from "react";
import type { Operation } from "../../try-it/operation.ts";
import { TryIt } from "../../try-it/TryIt.tsx";

/** Renders the panel beside an operation. The theme's own panel has 1.4 MB, most of it for languages not used here. */
export default function ApiExplorer({ item }: { item: Operation }): ReactNode {
  return item.method === "event" ? null : <TryIt key={item.operationId} operation={item} />;
}
