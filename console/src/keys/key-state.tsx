import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { getKeyState, type KeyStateName, type KeyTimes } from "./api-key.ts";

const tones: Record<KeyStateName, Tone> = {
  active: "good",
  expiring: "warning",
  overlapping: "warning",
  replaced: "neutral",
  expired: "neutral",
  revoked: "neutral",
};

export function KeyState({ apiKey }: { apiKey: KeyTimes }) {
  const state = getKeyState(apiKey);
  return <Badge tone={tones[state]}>{text.keys.states[state]}</Badge>;
}
