import type { ApiSchemaTypes } from "@pragma/client";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";

export type AccountingExport = ApiSchemaTypes["AccountingExport"];

const tones: Record<AccountingExport["state"], Tone> = {
  pending: "neutral",
  running: "info",
  done: "good",
  failed: "warning",
};

/** The state of an accounting export. One that failed still exports the tills that were not refused. */
export const AccountingExportState = ({ state }: Pick<AccountingExport, "state">) => (
  <Badge tone={tones[state]}>{text.accounting.states[state]}</Badge>
);
