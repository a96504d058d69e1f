import { afterAll, beforeAll, describe } from "vitest";
import { defineOutcomeEquivalenceTests } from "./equivalence/documented-outcomes.ts";
import { startEquivalenceFixture, stopDeploymentEquivalenceFixture } from "./equivalence/equivalence-fixture.ts";
import { defineInvalidRequestEquivalenceTests } from "./equivalence/invalid-requests.ts";
import { defineReadEquivalenceTests } from "./equivalence/reads.ts";
import { defineUndocumentedRequestTests } from "./equivalence/undocumented-requests.ts";
import { defineWriteEquivalenceTests } from "./equivalence/writes.ts";

// These tests check that an installation has the same responses in one process and in separate processes.
beforeAll(startEquivalenceFixture, 120_000);
afterAll(stopDeploymentEquivalenceFixture);

describe("outcomes", defineOutcomeEquivalenceTests);
describe("reads", defineReadEquivalenceTests);
describe("invalid requests", defineInvalidRequestEquivalenceTests);
describe("undocumented requests", defineUndocumentedRequestTests);
describe("writes", defineWriteEquivalenceTests);
