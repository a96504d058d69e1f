import type { ServiceName } from "@pragma/contracts/service-names";
import type { OwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { SeededRandom } from "@pragma/simulator/random";
import { expect } from "vitest";
import { computeExpectedDocuments, roundTripThroughJson } from "../harness/expected-report.ts";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import type { TestLocation } from "../harness/test-location.ts";
import { expectDatabaseConsistency } from "./expect-consistency.ts";
import { injectFaults } from "./inject-faults.ts";
import { generateTestTillRequestBodies, pushTestTillsWithRetries, type TestTillRequestBody } from "./push-tills.ts";
import { assertDocumentsStayListed, fetchAllDocumentIds, type TestApiReadOutcomeCounts } from "./read-lists.ts";

export interface FaultInjectionRunOptions {
  /** The random seed. Runs with the same seed push the same tills and have the same faults in the same sequence. */
  seed: string;
  /** Number of tills to push. */
  tills: number;
  /** Number of clients that push tills concurrently. */
  clients: number;
  /** Number of clients that read lists during the whole run. */
  readers: number;
  /** The services to run, each in its own process. The process of each service and the gateway are killed once. */
  services: readonly ServiceName[];
  /** Duration of each server outage, in milliseconds. */
  outageMs: number;
  log: (message: string) => void;
}

interface FaultInjectionEnvironment {
  product: PragmaUnderTest;
  servers: OwnTestServers;
  environment: IsolatedTestEnvironment;
  /** A new location, which has no reports or orders before the run. */
  testLocation: TestLocation;
}

/**
 * Pushes tills and reads lists while each process and server fails once. Then checks that each till has exactly one
 * correct report, that each order exists exactly once, and that the databases are consistent.
 */
export async function runFaultInjectionRound(
  faultEnvironment: FaultInjectionEnvironment,
  run: FaultInjectionRunOptions,
): Promise<void> {
  const { product, servers, testLocation, environment } = faultEnvironment;
  const random = new SeededRandom(`round ${run.seed}`);
  const tills = generateTestTillRequestBodies(random, { count: run.tills, testLocation });
  const pendingTills = [...tills];
  const counts: TestApiReadOutcomeCounts = { succeeded: 0, unavailable: 0, disconnected: 0 };
  const since = Date.now();
  let pushed = 0;
  const log = (message: string) =>
    run.log(`${((Date.now() - since) / 1000).toFixed(1).padStart(6)} s  ${pushed}/${tills.length} tills  ${message}`);

  const stopController = new AbortController();
  const readLoops = Array.from({ length: run.readers }, () =>
    assertDocumentsStayListed({ product, testLocation, counts }, stopController.signal),
  );
  const roles = ["gateway", ...run.services] as const;
  const options = { product, servers, random: random.fork("faults"), roles, outageMs: run.outageMs, log };
  const faultInjection = injectFaults(options).then(() => log("all servers and processes are running"));
  const expectedDurationMs = 4 * (run.outageMs * 1.25 + 1_000);
  const pushLoops = Array.from({ length: run.clients }, (_, client) =>
    pushTestTillsWithRetries(
      pendingTills,
      {
        product,
        testLocation,
        random: random.fork(`client ${client}`),
        maxPauseMs: Math.round((2 * expectedDurationMs * run.clients) / tills.length),
        onPushed: () => {
          pushed += 1;
        },
      },
      stopController.signal,
    ),
  );
  try {
    // Readers run until they are aborted, so the race ends when all tills are pushed and all faults are over, or as
    // soon as a reader, a push or the fault injection fails.
    await Promise.race([Promise.all([faultInjection, ...pushLoops]), Promise.all(readLoops)]);
  } finally {
    stopController.abort();
    await Promise.allSettled([faultInjection, ...pushLoops]);
  }
  await Promise.all(readLoops);
  log(`reads: ${counts.succeeded} succeeded, ${counts.unavailable} unavailable, ${counts.disconnected} disconnected`);
  expect(counts.succeeded).toBeGreaterThan(0);
  await expectEveryTillReported(faultEnvironment, tills);
  await expectDatabaseConsistency(environment, run.services);
  log("every till has its report, and the databases are consistent");
}

/** Checks that each till has exactly one correct report, and that each order exists exactly once. */
async function expectEveryTillReported(
  { product, testLocation }: FaultInjectionEnvironment,
  tills: TestTillRequestBody[],
): Promise<void> {
  const expected = tills.map(({ format, text }) => {
    const report = computeExpectedDocuments(format, JSON.parse(text), testLocation.locationId);
    return report ?? expect.unreachable("no till is in training mode");
  });
  for (const { id, reportV2 } of expected) {
    const report = await eventually(
      `report ${id}`,
      async () => {
        const response = await testLocation.request("GET", `/v2/reports/${id}`);
        return response.status === 200 && response.json();
      },
      { timeoutSeconds: 60 },
    );
    expect(report).toEqual(roundTripThroughJson(reportV2));
  }
  const listed = await fetchAllDocumentIds(product, testLocation);
  expect(listed.reports.sort()).toEqual(expected.map(({ id }) => id).sort());
  expect(listed.orders.sort()).toEqual(expected.flatMap(({ orders }) => orders.map(({ id }) => id)).sort());
}
