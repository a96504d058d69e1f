import type { ApiSchemaTypes } from "@pragma/client";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";

type State = ApiSchemaTypes["EReportPeriod"]["state"];

const tones: Record<State, Tone> = {
  open: "neutral",
  ready: "info",
  taken: "good",
  changed: "warning",
  empty: "neutral",
};

export const EReportState = ({ state }: { state: State }) => (
  <Badge tone={tones[state]}>{text.eReports.states[state]}</Badge>
);
