import type { ReactNode } from "react";
import { EventMessagePanel } from "../../reference/EventMessagePanel.tsx";
import type { TryItOperation } from "../../try-it/operation.ts";
import { TryItPanel } from "../../try-it/TryItPanel.tsx";

/** Renders the form and the examples beside an operation, or an example of a webhook message. */
export default function ApiExplorer({ operation }: { operation: TryItOperation }): ReactNode {
  return operation.method === "event" ? (
    <EventMessagePanel operation={operation} />
  ) : (
    <TryItPanel operation={operation} />
  );
}
