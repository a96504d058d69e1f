import type { ReactNode } from "react";
import type { Operation } from "../../try-it/operation.ts";
import { TryIt } from "../../try-it/TryIt.tsx";

/** What stands beside an operation. The theme's own explorer weighs 1.4 MB, most of it languages that are not shown. */
export default function ApiExplorer({ item }: { item: Operation }): ReactNode {
  return item.method === "event" ? null : <TryIt key={item.operationId} operation={item} />;
}
