import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { Random } from "@pragma/simulator/random";
import { expect } from "vitest";
import { type Ask, ordinaryAsking } from "../contract/contract.ts";
import { newTill } from "../contract/new-till.ts";
import type { Operation, Outcome } from "../contract/operations.ts";
import { contractTable } from "../contract/table.ts";
import { jobLimits } from "../contract/tags/jobs.ts";
import { openWorld, type World } from "../contract/world.ts";
import { type BothWays, startBothWays, type Way } from "../harness/both-ways.ts";
import { type LegacyBackoffice, startLegacyBackoffice } from "../harness/legacy-backoffice.ts";
import { legacyVariables } from "../harness/legacy-variables.ts";
import { olderTill } from "../harness/older-till.ts";
import type { RawRequest } from "../harness/raw-exchange.ts";

/** An installation that runs both ways, each with a world of its own in the one database. */
export let both: BothWays;
export let worlds: Record<Way, World>;
/** The key of somebody who may do nothing. */
export let powerlessKey: string;
let environment: TestEnvironment;
let backoffice: LegacyBackoffice;

export async function start(): Promise<void> {
  backoffice = await startLegacyBackoffice();
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "100000", RATE_LIMIT_BURST: "100000" },
    ...{ RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" },
    ...{ AUTH_FAILURES_PER_SECOND: "100000", AUTH_FAILURES_BURST: "100000" },
    ...{ ...jobLimits, ...legacyVariables(backoffice) },
  });
  both = await startBothWays(environment.variables);
  const [together, apart] = await Promise.all([openWorld(both.together), openWorld(both.apart)]);
  worlds = { together, apart };
  powerlessKey = await together.keyWith([]);
  // Lists of which a page is not the whole.
  const { shop } = together;
  for (const till of [newTill(), newTill()])
    expect((await shop.ask("POST", "/v2/tills", { body: till })).status).toBe(201);
  expect((await shop.ask("POST", "/v1/tills", { body: olderTill(new Random("older"), shop) })).status).toBe(201);
  await shop.reports(4);
}

export async function stop(): Promise<void> {
  await both?.stop();
  await backoffice?.stop();
  await environment?.remove();
}

/** The request for an outcome of an operation, or else its ordinary one. */
export async function askFor(operation: Operation, way: Way, outcome?: Outcome): Promise<Ask> {
  const contract = contractTable[operation.id];
  const asking = (outcome && contract?.answers[outcome]) ?? ordinaryAsking(operation, contract);
  return { key: worlds[way].shop.key, ...(await asking(worlds[way])) };
}

/** The request as it goes over the wire. Of a reply that does not end the headers are waited for. */
export function rawOf({ method, path, outcomes }: Operation, ask: Ask): RawRequest {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ask.path?.[name] ?? ""));
  const search = new URLSearchParams(ask.query).toString();
  const { body, key } = ask;
  return {
    method,
    path: address + (search && `?${search}`),
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...ask.headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    headOnly: outcomes.get("200")?.content["text/event-stream"] !== undefined,
  };
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}
