import { afterAll, beforeAll, describe } from "vitest";
import { defineOutcomeEquivalenceTests } from "./equivalence/documented-outcomes.ts";
import { startEquivalenceFixture, stopDeploymentEquivalenceFixture } from "./equivalence/equivalence-fixture.ts";
import { defineInvalidRequestEquivalenceTests } from "./equivalence/invalid-requests.ts";
import { defineReadEquivalenceTests } from "./equivalence/reads.ts";
import { defineUndocumentedRequestTests } from "./equivalence/undocumented-requests.ts";
import { defineWriteEquivalenceTests } from "./equivalence/writes.ts";

/** Clients see no difference between an installation in one process and the same installation in separate processes. */
beforeAll(startEquivalenceFixture, 120_000);
afterAll(stopDeploymentEquivalenceFixture);

describe("outcomes", defineOutcomeEquivalenceTests);
describe("reads", defineReadEquivalenceTests);
describe("invalid requests", defineInvalidRequestEquivalenceTests);
describe("undocumented requests", defineUndocumentedRequestTests);
describe("writes", defineWriteEquivalenceTests);
