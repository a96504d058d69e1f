import { afterAll, beforeAll, describe } from "vitest";
import { defineDeploymentEquivalenceOutcomeTests } from "./equivalence/documented-outcomes.ts";
import {
  startDeploymentEquivalenceFixture,
  stopDeploymentEquivalenceFixture,
} from "./equivalence/equivalence-fixture.ts";
import { defineDeploymentEquivalenceInvalidRequestTests } from "./equivalence/invalid-requests.ts";
import { defineDeploymentEquivalenceReadTests } from "./equivalence/reads.ts";
import { defineDeploymentEquivalenceUndocumentedRequestTests } from "./equivalence/undocumented-requests.ts";
import { defineDeploymentEquivalenceWriteTests } from "./equivalence/writes.ts";

// These tests check that an installation has the same responses in one process and in separate processes.
beforeAll(startDeploymentEquivalenceFixture, 120_000);
afterAll(stopDeploymentEquivalenceFixture);

describe("outcomes", defineDeploymentEquivalenceOutcomeTests);
describe("reads", defineDeploymentEquivalenceReadTests);
describe("invalid requests", defineDeploymentEquivalenceInvalidRequestTests);
describe("undocumented requests", defineDeploymentEquivalenceUndocumentedRequestTests);
describe("writes", defineDeploymentEquivalenceWriteTests);
