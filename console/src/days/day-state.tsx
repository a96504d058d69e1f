import type { ApiSchemaTypes } from "@pragma/client";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";

export type Day = ApiSchemaTypes["Day"];
export type DayCheck = ApiSchemaTypes["DayCheck"];

const tones: Record<Day["state"], Tone> = { open: "info", closed: "good", incomplete: "warning" };

export const DayState = ({ state }: { state: Day["state"] }) => (
  <Badge tone={tones[state]}>{text.days.states[state]}</Badge>
);

export const listFailedChecks = ({ reconciliation }: Day): DayCheck[] =>
  reconciliation.filter(({ status }) => status === "failed");
