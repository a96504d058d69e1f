import { randomUUID } from "node:crypto";
import { CreateJobResponse, type JobOptions, JobState } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import type { Problem } from "@pragma/contracts/problem";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { buildTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { Queue, type Job as QueuedJob } from "bullmq";
import { Redis } from "ioredis";
import { bullEventStreamOptions, publicJobsBullQueueName, toBullJobId } from "../job-queue.ts";
import { type JobHandler, sleepForJobDuration } from "../run-job.ts";
import { defineJobsService } from "../service.ts";

/** A location with its own API key, and methods that send requests to the jobs service. */
export interface TestJobsClient {
  principal: Principal;
  locationId: string;
  /** Returns the job as BullMQ stores it. */
  getQueuedJob(id: string): Promise<QueuedJob | undefined>;
  /** Creates a job. Fails if the service returns an error or an existing job. */
  createJob(body: TestJobBody): Promise<CreateJobResponse>;
  postJob(body: TestJobBody): Promise<Response>;
  postJobProblem(body: TestJobBody): Promise<Problem>;
  getStatus(id: string): Promise<JobState>;
  /** Waits until the job is in this state, then returns the job. */
  waitForState(id: string, state: JobState["state"], timeoutSeconds?: number): Promise<JobState>;
  isJobRemoved(id: string): Promise<boolean>;
  /** Returns when the next run of a repeating job is due. */
  nextRunAt(id: string): Promise<Date | undefined>;
}

interface TestJobBody {
  message: string;
  duration?: number;
  jobOptions?: JobOptions;
}

export interface TestJobsService extends TestService {
  /** The message of each started attempt, in the sequence in which the attempts started. */
  startedMessages: string[];
  /** The messages of the `held` jobs that the test has allowed to finish. */
  releasedMessages: Set<string>;
  redis: Redis;
  queue: Queue;
  createTestLocation(): TestJobsClient;
  /** Starts another instance of the service that uses the same PostgreSQL and Redis servers. */
  startAnotherInstance(): Promise<TestService>;
  /** Deletes all data of the queue from Redis, to simulate a loss of data. */
  flushRedis(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Starts the jobs service for tests, by default with one concurrent job per location. A job whose message begins with
 * `fail` fails in every attempt, and with `fail once` only in the first attempt. A job whose message begins with `held`
 * waits until the test releases the message, and with `held, then fail` fails after this wait.
 */
export async function startTestJobsService(variables: Record<string, string> = {}): Promise<TestJobsService> {
  const environment = await createMigratedTestEnvironment({
    JOBS_CONCURRENCY: "1",
    JOBS_MIN_REPEAT_INTERVAL_MS: "100",
    ...variables,
  });
  const startedMessages: string[] = [];
  const releasedMessages = new Set<string>();
  const perform: JobHandler = async (payload, controls) => {
    startedMessages.push(payload.message);
    const { message } = payload;
    const attemptNumber = startedMessages.filter((each) => each === message).length;
    if (message.startsWith("fail") && (attemptNumber === 1 || !message.startsWith("fail once")))
      throw new Error(message);
    while (message.startsWith("held") && !releasedMessages.has(message) && !controls.signal.aborted) await sleep(25);
    if (message.startsWith("held, then fail")) throw new Error(message);
    return sleepForJobDuration(payload, controls);
  };
  const definition = defineJobsService(perform);
  const service = await startTestService(definition, environment);
  const redis = new Redis(environment.variables.REDIS_URL ?? "");
  redis.on("error", () => {});
  const prefix = environment.namespace;
  const queue = new Queue(publicJobsBullQueueName, { connection: redis, prefix, streams: bullEventStreamOptions });
  queue.on("error", () => {});

  function createTestLocation(): TestJobsClient {
    const principal = buildTestPrincipal({ scopes: ["jobs:write"] });
    const locationId = principal.location?.id ?? "";
    const createRequest = (body: TestJobBody) => ({ method: "POST", path: "/v1/jobs/", principal, body });
    const getStatus = (id: string) => service.getJson(`/v1/jobs/${encodeURIComponent(id)}`, JobState, principal);
    return {
      principal,
      locationId,
      getQueuedJob: (id) => queue.getJob(toBullJobId({ locationId, id })),
      getStatus,
      createJob: (body) => service.sendJson(createRequest(body), { status: 201, schema: CreateJobResponse }),
      postJob: (body) => service.request("POST", "/v1/jobs/", { principal, body }),
      postJobProblem: (body) => service.requestProblem(createRequest(body)),
      waitForState(id, state, timeoutSeconds = 20) {
        const isInState = async () => {
          const job = await getStatus(id);
          return job.state === state && job;
        };
        return eventually(`${id} to be ${state}`, isInState, { timeoutSeconds });
      },
      async nextRunAt(id) {
        const [run] = await service.db.sql<{ dueAt: Date }[]>`
          select due_at from location_jobs
          where location_id = ${locationId} and repeating_job_id = ${id} and queued_at is null
          order by due_at desc limit 1`;
        return run?.dueAt;
      },
      async isJobRemoved(id) {
        const response = await service.request("GET", `/v1/jobs/${encodeURIComponent(id)}`, { principal });
        return response.status === 404;
      },
    };
  }

  async function flushRedis(): Promise<void> {
    const keys = await redis.keys(`${prefix}:*`);
    if (keys.length > 0) await redis.unlink(...keys);
  }

  return {
    ...service,
    startedMessages,
    releasedMessages,
    redis,
    queue,
    createTestLocation,
    startAnotherInstance: () => startTestService(definition, environment),
    flushRedis,
    async remove() {
      await service.stop();
      await queue.close();
      await flushRedis();
      redis.disconnect();
      await environment.remove();
    },
  };
}

/** Returns the message with a unique suffix. */
export const createUniqueTestJobMessage = (message: string) => `${message} ${randomUUID()}`;
