import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ContractTestFixture } from "../contract-fixture.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

/** Maximum number of unfinished jobs per API key. The limit is low, so that a test can exceed it. */
const maxUnfinishedJobs = 20;
/** Maximum number of repeating jobs per location. */
const maxRepeatingJobs = 2;
/** Maximum bytes of job messages per location and day. One message of 100,000 characters (3 bytes each) exceeds it. */
const maxJobBytesPerDay = 290_000;

/** The environment variables that set these limits in the tested installation. */
export const testJobLimitEnvironmentVariables = {
  JOBS_MAX_UNFINISHED_PER_KEY: String(maxUnfinishedJobs),
  JOBS_MAX_REPEATING_PER_LOCATION: String(maxRepeatingJobs),
  JOBS_MAX_BYTES_PER_DAY: String(maxJobBytesPerDay),
};

const repeatingJob = { message: "Again", jobOptions: { repeat: { every: 3_600_000 } } };
const delayedJob = { message: "Later", jobOptions: { delay: 3_600_000 } };

/** Creates a job, waits until the job is finished, and returns its id. */
async function createFinishedJob({ testLocation }: ContractTestFixture): Promise<string> {
  const response = await testLocation.request("POST", "/v1/jobs", { body: { message: "Close the day" } });
  const { id } = (await response.json()) as { id: string };
  await eventually("the job", async () => {
    const job = (await (await testLocation.request("GET", `/v1/jobs/${id}`)).json()) as { finishedAt: string | null };
    return job.finishedAt !== null;
  });
  return id;
}

export const jobsContractTestCases: TagContractTestCases = {
  createJob: {
    requestsByOutcome: {
      201: () => ({ body: { message: "Close the day" } }),
      200: async (fixture) => ({ body: { message: "Again", jobOptions: { jobId: await createFinishedJob(fixture) } } }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: { message: "Nowhere" },
        key: product.adminKey,
      }),
      204: async ({ testLocation }) => {
        const operationRequest = {
          body: { message: "x".repeat(70_000) },
          headers: { "idempotency-key": randomUUID() },
        };
        await testLocation.request("POST", "/v1/jobs", operationRequest);
        return operationRequest;
      },
      limit_reached: async ({ testLocation }) => {
        for (let index = 0; index < maxRepeatingJobs; index += 1)
          await testLocation.request("POST", "/v1/jobs", { body: repeatingJob });
        return { body: repeatingJob };
      },
      quota_exceeded: () => ({ body: { message: "€".repeat(100_000) } }),
      too_many_jobs: async ({ testLocation, createKeyWithScopes }) => {
        const key = await createKeyWithScopes(["jobs:write"]);
        for (let index = 0; index < maxUnfinishedJobs; index += 1) {
          await testLocation.request("POST", "/v1/jobs", { body: delayedJob, key });
        }
        return { body: delayedJob, key };
      },
    },
    // Job ids are unique per location, so the other location can create a job with the same id.
    statusForOtherLocation: 201,
  },
  getJob: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: { id: await createFinishedJob(fixture) } }),
      job_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
