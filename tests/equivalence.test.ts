import { afterAll, beforeAll, describe } from "vitest";
import { defineOutcomeTests } from "./equivalence/documented-outcomes.ts";
import { startEquivalenceFixture, stopEquivalenceFixture } from "./equivalence/equivalence-fixture.ts";
import { defineInvalidRequestTests } from "./equivalence/invalid-requests.ts";
import { defineReadTests } from "./equivalence/reads.ts";
import { defineUndocumentedRequestTests } from "./equivalence/undocumented-requests.ts";
import { defineWriteTests } from "./equivalence/writes.ts";

// These tests check that an installation has the same responses in one process and in separate processes.
beforeAll(startEquivalenceFixture, 300_000);
afterAll(stopEquivalenceFixture);

describe("outcomes", defineOutcomeTests);
describe("reads", defineReadTests);
describe("invalid requests", defineInvalidRequestTests);
describe("undocumented requests", defineUndocumentedRequestTests);
describe("writes", defineWriteTests);
