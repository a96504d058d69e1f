import type { ApiSchemaTypes } from "@pragma/client";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";

type Webhook = Pick<ApiSchemaTypes["Webhook"], "state" | "disabledReason" | "failingSince">;
type Delivery = ApiSchemaTypes["Delivery"];

const tones: Record<Webhook["state"], Tone> = { active: "good", paused: "neutral", disabled: "bad" };

export function WebhookState({ webhook: { state, disabledReason, failingSince } }: { webhook: Webhook }) {
  if (state === "active" && failingSince !== null) return <Badge tone="warning">{text.webhooks.states.failing}</Badge>;
  return (
    <Badge tone={tones[state]}>
      {text.webhooks.states[state]}
      {disabledReason !== null && `: ${text.webhooks.disabledReasons[disabledReason]}`}
    </Badge>
  );
}

const deliveryTones: Record<Delivery["state"], Tone> = {
  pending: "info",
  sending: "info",
  succeeded: "good",
  failed: "bad",
};

export const DeliveryState = ({ state }: { state: Delivery["state"] }) => (
  <Badge tone={deliveryTones[state]}>{text.webhooks.deliveryStates[state]}</Badge>
);
