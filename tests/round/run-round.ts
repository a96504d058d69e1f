import type { ServiceName } from "@pragma/contracts/service-names";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { PrivateServers } from "@pragma/runtime/testing/private-servers";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { Random } from "@pragma/simulator/random";
import { expect } from "vitest";
import { asRead, expectedReport } from "../harness/expected-report.ts";
import type { Product } from "../harness/product.ts";
import type { Shop } from "../harness/shop.ts";
import { expectConsistency } from "./expect-consistency.ts";
import { makeTrouble } from "./make-trouble.ts";
import { keepPushing, type PushedTill, tillsOfRound } from "./push-tills.ts";
import { keepReading, type ReadTally, readEverything } from "./read-lists.ts";

export interface Round {
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

interface Place {
  product: Product;
  servers: PrivateServers;
  environment: TestEnvironment;
  /** A shop that has nothing yet. */
  shop: Shop;
}

/**
 * Pushes tills and reads lists while everything is taken away once. Then every till has exactly one report with exact
 * figures, every order is there once, and nothing is left over.
 */
export async function runRound(place: Place, round: Round): Promise<void> {
  const { product, servers, shop, environment } = place;
  const random = new Random(`round ${round.seed}`);
  const tills = tillsOfRound(random, { count: round.tills, shop });
  const waiting = [...tills];
  const tally: ReadTally = { answered: 0, putOff: 0, cutOff: 0 };
  const since = Date.now();
  let pushed = 0;
  const tell = (what: string) =>
    round.tell(`${((Date.now() - since) / 1000).toFixed(1).padStart(6)} s  ${pushed}/${tills.length} tills  ${what}`);

  const over = new AbortController();
  const reading = Array.from({ length: round.readers }, () => keepReading({ product, shop, tally }, over.signal));
  const roles = ["gateway", ...round.services] as const;
  const options = { product, servers, random: random.fork("trouble"), roles, outage: round.outage, tell };
  const trouble = makeTrouble(options).then(() => tell("everything is there again"));
  const expectedTime = 4 * (round.outage * 1.25 + 1_000);
  const pushing = Array.from({ length: round.clients }, (_, client) =>
    keepPushing(
      waiting,
      {
        product,
        shop,
        random: random.fork(`client ${client}`),
        longestPause: Math.round((2 * expectedTime * round.clients) / tills.length),
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
  await expectEverything(place, tills);
  await expectConsistency(environment, round.services);
  tell("every till has its report, and nothing is left over");
}

/** Each till has its one report, with the figures that it should have, and each order is there once. */
async function expectEverything({ product, shop }: Place, tills: PushedTill[]): Promise<void> {
  const expected = tills.map(({ format, text }) => {
    const report = expectedReport(format, JSON.parse(text), shop.locationId);
    return report ?? expect.unreachable("the tills of a round are none of training");
  });
  for (const { id, reportV2 } of expected) {
    const report = await eventually(
      `report ${id}`,
      async () => {
        const answer = await shop.ask("GET", `/v2/reports/${id}`);
        return answer.status === 200 && answer.json();
      },
      { withinSeconds: 60 },
    );
    expect(report).toEqual(asRead(reportV2));
  }
  const listed = await readEverything(product, shop);
  expect(listed.reports.sort()).toEqual(expected.map(({ id }) => id).sort());
  expect(listed.orders.sort()).toEqual(expected.flatMap(({ orders }) => orders.map(({ id }) => id)).sort());
}
