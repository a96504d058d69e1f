import { afterAll, beforeAll, describe } from "vitest";
import { describeAddresses } from "./equivalence/addresses.ts";
import { describeChanges } from "./equivalence/changes.ts";
import { describeOutcomes } from "./equivalence/outcomes.ts";
import { describeReads } from "./equivalence/reads.ts";
import { describeRefusals } from "./equivalence/refusals.ts";
import { start, stop } from "./equivalence/setting.ts";

/** One installation, in one process and in one for each part: clients cannot tell. */
beforeAll(start, 120_000);
afterAll(stop);

describe("outcomes", describeOutcomes);
describe("reads", describeReads);
describe("refusals", describeRefusals);
describe("addresses", describeAddresses);
describe("changes", describeChanges);
