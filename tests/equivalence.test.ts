import { afterAll, beforeAll, describe } from "vitest";
import { describeDocumentedOutcomes } from "./equivalence/documented-outcomes.ts";
import { startEquivalenceFixture, stopEquivalenceFixture } from "./equivalence/equivalence-fixture.ts";
import { describeInvalidRequests } from "./equivalence/invalid-requests.ts";
import { describeReads } from "./equivalence/reads.ts";
import { describeUndocumentedRequests } from "./equivalence/undocumented-requests.ts";
import { describeWrites } from "./equivalence/writes.ts";

/** One installation in one process and in separate processes: clients see no difference. */
beforeAll(startEquivalenceFixture, 120_000);
afterAll(stopEquivalenceFixture);

describe("outcomes", describeDocumentedOutcomes);
describe("reads", describeReads);
describe("invalid requests", describeInvalidRequests);
describe("undocumented requests", describeUndocumentedRequests);
describe("writes", describeWrites);
