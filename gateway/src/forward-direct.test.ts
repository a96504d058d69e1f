import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, TestAccounts, type TestGateway } from "./testing/test-gateway.ts";
import { testService } from "./testing/test-service.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let environment: TestEnvironment;
let gateway: TestGateway;
const accounts = new TestAccounts();
const { key } = accounts.addKey({ rateLimit: { perSecond: 10_000, burst: 10_000 } });
/** What the service was asked, as long as anything keeps it. */
const asked: WeakRef<Request>[] = [];

beforeAll(async () => {
  environment = await createTestEnvironment();
  const answer = testService({ aborted: 0, pulled: 0 });
  gateway = await startTestGateway(environment, {
    accounts,
    direct: {
      async reporting(request) {
        asked.push(new WeakRef(request));
        return answer(request);
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await environment.remove();
});

it.each([
  ["GET", "json", undefined],
  ["POST", "count", "a body"],
])("nothing is kept of a request to a service in this process once it is over: %s %s", async (method, path, body) => {
  asked.length = 0;
  for (let count = 0; count < 40; count += 1) {
    const reply = await gateway.ask(`/v2/reports/${path}`, { key, method, ...(body !== undefined && { body }) });
    await reply.arrayBuffer();
  }
  const kept = () => {
    collectGarbage();
    return asked.filter((request) => request.deref()).length;
  };
  // The last few may still be on the stack, or in a buffer of the connection's.
  await eventually("requests to be let go of", () => kept() <= 4);
  expect(asked.length).toBe(40);
});
