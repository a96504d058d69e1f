import { publish } from "@pragma/runtime/outbox";
import type { Transaction } from "@pragma/runtime/postgres";
import { judgeHealth } from "../judge-health.ts";
import {
  disableWebhook,
  type Failing,
  type FailingWebhook,
  noteFailing,
  noteWarned,
  type Outcome,
} from "../queries/outcomes.ts";

/** What a batch of attempts says of their endpoints: those whose latest one succeeded, and those whose latest one failed. */
export interface EndpointHealth {
  working: string[];
  failing: (Failing & { isGone: boolean; traceparent: string })[];
}

/** Goes by when attempts ended. A test that fails says nothing: it may be made of an endpoint that is yet to be built. */
export function healthOf(outcomes: readonly Outcome[]): EndpointHealth {
  const byWebhook = new Map<string, Outcome[]>();
  for (const outcome of [...outcomes].sort((one, other) => one.endedAt.getTime() - other.endedAt.getTime())) {
    if (outcome.event === "test" && outcome.error !== null) continue;
    byWebhook.set(outcome.webhookId, [...(byWebhook.get(outcome.webhookId) ?? []), outcome]);
  }
  const health: EndpointHealth = { working: [], failing: [] };
  for (const [webhookId, of] of [...byWebhook].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const lastSuccess = of.findLastIndex(({ error }) => error === null);
    const since = of[lastSuccess + 1];
    const last = of.at(-1);
    if (!since || !last) health.working.push(webhookId);
    else {
      health.failing.push({
        webhookId,
        since: since.endedAt,
        successesBefore: of.filter(({ error }) => error === null).length,
        lastError: last.error ?? "",
        traceparent: last.traceparent,
        isGone: of.some(({ isGone }) => isGone),
      });
    }
  }
  return health;
}

/** What was done about an endpoint that fails. */
export interface HealthAction {
  action: "disabled" | "warned";
  webhook: FailingWebhook;
}

/**
 * Notes the endpoints that fail. One that is gone, or has had nothing but failures for five days, is disabled, and one
 * that is half-way there is warned of: both are told to the recipient's other endpoints.
 */
export async function noteFailures(
  tx: Transaction,
  failing: EndpointHealth["failing"],
  now: Date,
): Promise<HealthAction[]> {
  const actions: HealthAction[] = [];
  const failures = new Map(failing.map((each) => [each.webhookId, each]));
  for (const webhook of await noteFailing(tx, failing)) {
    const { id, locationId, endpointUrl, failingSince, warnedAt, lastError } = webhook;
    const { isGone = false, traceparent } = failures.get(id) ?? {};
    const judgement = judgeHealth({ failingSince, warnedAt, isGone }, now);
    if (judgement === "nothing") continue;
    const facts = { locationId, webhookId: id, endpointUrl, failingSince: failingSince.toISOString(), lastError };
    if (judgement === "warn") {
      await noteWarned(tx, id, now);
      await publish(tx, "endpoint.failing", { subject: id, data: facts, traceparent });
    } else {
      await disableWebhook(tx, { id, reason: judgement.disable, now });
      const data = { ...facts, reason: judgement.disable };
      await publish(tx, "endpoint.disabled", { subject: id, data, traceparent });
    }
    actions.push({ action: judgement === "warn" ? "warned" : "disabled", webhook });
  }
  return actions;
}
