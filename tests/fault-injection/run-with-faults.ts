import type { ServiceName } from "@pragma/contracts/service-names";
import type { DedicatedServers } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { Random } from "@pragma/simulator/random";
import { expect } from "vitest";
import { computeExpectedReport, toJsonValue } from "../harness/expected-report.ts";
import type { ProductUnderTest } from "../harness/product-under-test.ts";
import type { TestLocation } from "../harness/test-location.ts";
import { expectDatabaseConsistency } from "./expect-consistency.ts";
import { injectFaults } from "./inject-faults.ts";
import { generateTillsToPush, pushPendingTills, type TillToPush } from "./push-tills.ts";
import { type ReadCounts, readAllIds, readListsUntilAborted } from "./read-lists.ts";

export interface FaultInjectionRun {
  /** The same seed makes the same tills, and the same troubles in the same order. */
  seed: string;
  /** How many tills are pushed, and by how many clients at the same time. */
  tills: number;
  clients: number;
  /** Clients that read all the while. */
  readers: number;
  /** The services that run, each in a process of its own, which is killed; so is the gateway. */
  services: readonly ServiceName[];
  /** How long each server is away, in milliseconds. */
  outage: number;
  tell: (what: string) => void;
}

interface FaultInjectionEnvironment {
  product: ProductUnderTest;
  servers: DedicatedServers;
  environment: TestEnvironment;
  /** A shop that has nothing yet. */
  shop: TestLocation;
}

/**
 * Pushes tills and reads lists while everything is taken away once. Then every till has exactly one report with exact
 * figures, every order is there once, and nothing is left over.
 */
export async function runWithFaults(place: FaultInjectionEnvironment, round: FaultInjectionRun): Promise<void> {
  const { product, servers, shop, environment } = place;
  const random = new Random(`round ${round.seed}`);
  const tills = generateTillsToPush(random, { count: round.tills, shop });
  const waiting = [...tills];
  const tally: ReadCounts = { answered: 0, putOff: 0, cutOff: 0 };
  const since = Date.now();
  let pushed = 0;
  const tell = (what: string) =>
    round.tell(`${((Date.now() - since) / 1000).toFixed(1).padStart(6)} s  ${pushed}/${tills.length} tills  ${what}`);

  const over = new AbortController();
  const reading = Array.from({ length: round.readers }, () =>
    readListsUntilAborted({ product, shop, tally }, over.signal),
  );
  const roles = ["gateway", ...round.services] as const;
  const options = { product, servers, random: random.fork("trouble"), roles, outage: round.outage, tell };
  const trouble = injectFaults(options).then(() => tell("everything is there again"));
  const expectedTime = 4 * (round.outage * 1.25 + 1_000);
  const pushing = Array.from({ length: round.clients }, (_, client) =>
    pushPendingTills(
      waiting,
      {
        product,
        shop,
        random: random.fork(`client ${client}`),
        maxPauseMs: Math.round((2 * expectedTime * round.clients) / tills.length),
        onPushed: () => {
          pushed += 1;
        },
      },
      over.signal,
    ),
  );
  try {
    // Readers only end by themselves when they were told something that they should not be.
    await Promise.race([Promise.all([trouble, ...pushing]), Promise.all(reading)]);
  } finally {
    over.abort();
    await Promise.allSettled([trouble, ...pushing]);
  }
  await Promise.all(reading);
  tell(`reads: ${tally.answered} answered, ${tally.putOff} put off, ${tally.cutOff} cut off`);
  expect(tally.answered).toBeGreaterThan(0);
  await expectEveryTillReported(place, tills);
  await expectDatabaseConsistency(environment, round.services);
  tell("every till has its report, and nothing is left over");
}

/** Each till has its one report, with the figures that it should have, and each order is there once. */
async function expectEveryTillReported(
  { product, shop }: FaultInjectionEnvironment,
  tills: TillToPush[],
): Promise<void> {
  const expected = tills.map(({ format, text }) => {
    const report = computeExpectedReport(format, JSON.parse(text), shop.locationId);
    return report ?? expect.unreachable("the tills of a round are none of training");
  });
  for (const { id, reportV2 } of expected) {
    const report = await eventually(
      `report ${id}`,
      async () => {
        const answer = await shop.request("GET", `/v2/reports/${id}`);
        return answer.status === 200 && answer.json();
      },
      { timeoutSeconds: 60 },
    );
    expect(report).toEqual(toJsonValue(reportV2));
  }
  const listed = await readAllIds(product, shop);
  expect(listed.reports.sort()).toEqual(expected.map(({ id }) => id).sort());
  expect(listed.orders.sort()).toEqual(expected.flatMap(({ orders }) => orders.map(({ id }) => id)).sort());
}
