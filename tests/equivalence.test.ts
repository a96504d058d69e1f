import { afterAll, beforeAll, describe } from "vitest";
import { defineOutcomeEquivalenceTests } from "./equivalence/documented-outcomes.ts";
import { startEquivalenceFixture, stopDeploymentEquivalenceFixture } from "./equivalence/equivalence-fixture.ts";
import { defineInvalidRequestEquivalenceTests } from "./equivalence/invalid-requests.ts";
import { defineReadEquivalenceTests } from "./equivalence/reads.ts";
import { defineUndocumentedRequestTests } from "./equivalence/undocumented-requests.ts";
import { defineWriteEquivalenceTests } from "./equivalence/writes.ts";

/** One installation in one process and in separate processes: clients see no difference. */
beforeAll(startEquivalenceFixture, 120_000);
afterAll(stopDeploymentEquivalenceFixture);

describe("outcomes", defineOutcomeEquivalenceTests);
describe("reads", defineReadEquivalenceTests);
describe("invalid requests", defineInvalidRequestEquivalenceTests);
describe("undocumented requests", defineUndocumentedRequestTests);
describe("writes", defineWriteEquivalenceTests);
