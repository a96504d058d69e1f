import { randomUUID } from "node:crypto";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import { Job, type JobOptions, JobStatus } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService, testPrincipal } from "@pragma/runtime/testing/test-service";
import { Queue, type Job as QueuedJob } from "bullmq";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { queuedId, queueName, unreadEvents } from "../queue.ts";
import { type Perform, waitOut } from "../run-job.ts";
import { defineJobsService } from "../service.ts";

/** A location with a key of its own. */
export interface TestShop {
  principal: Principal;
  locationId: string;
  /** The job as BullMQ has it. */
  queued(id: string): Promise<QueuedJob | undefined>;
  /** Creates a job that has to be new. */
  create(body: NewJobBody): Promise<Job>;
  ask(body: NewJobBody): Promise<Response>;
  refusal(body: NewJobBody): Promise<Problem>;
  status(id: string): Promise<JobStatus>;
  /** The job, once it is in this state. */
  inState(id: string, state: JobStatus["state"], withinSeconds?: number): Promise<JobStatus>;
  isForgotten(id: string): Promise<boolean>;
  /** When the next run of a repeating job is due. */
  nextRun(id: string): Promise<Date | undefined>;
}

interface NewJobBody {
  message: string;
  duration?: number;
  jobOptions?: JobOptions;
}

export interface TestJobs extends TestService {
  /** The messages of jobs in the order in which they were begun, each time that they were. */
  begun: string[];
  /** The messages of jobs that begin with `held` and need be held no longer. */
  released: Set<string>;
  redis: Redis;
  /** The queue as BullMQ sees it. */
  queue: Queue;
  openShop(): TestShop;
  /** Starts another process of the service beside. */
  startAnother(): Promise<TestService>;
  /** What Redis knows of the queues is gone. */
  emptyRedis(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * The jobs service for one test file, one job of a location at a time. A job fails whose message begins with `fail`,
 * and one that begins with `fail once` the first time; one that begins with `held` lasts until it is released, and
 * then fails when it begins with `held, then fail`.
 */
export async function startJobs(variables: Record<string, string> = {}): Promise<TestJobs> {
  const environment = await createTestEnvironment({
    JOBS_CONCURRENCY: "1",
    JOBS_SHORTEST_REPEAT: "100",
    ...variables,
  });
  const begun: string[] = [];
  const released = new Set<string>();
  const perform: Perform = async (payload, turn) => {
    begun.push(payload.message);
    const { message } = payload;
    const tries = begun.filter((each) => each === message).length;
    if (message.startsWith("fail") && (tries === 1 || !message.startsWith("fail once"))) throw new Error(message);
    while (message.startsWith("held") && !released.has(message) && !turn.signal.aborted) await sleep(25);
    if (message.startsWith("held, then fail")) throw new Error(message);
    return waitOut(payload, turn);
  };
  const definition = defineJobsService(perform);
  const service = await startTestService(definition, environment);
  const redis = new Redis(environment.variables.REDIS_URL ?? "");
  redis.on("error", () => {});
  const prefix = environment.namespace;
  const queue = new Queue(queueName, { connection: redis, prefix, streams: unreadEvents });
  queue.on("error", () => {});

  function openShop(): TestShop {
    const principal = testPrincipal({ scopes: ["jobs:write"] });
    const locationId = principal.location?.id ?? "";
    const ask = (body: NewJobBody) => service.ask("POST", "/v1/jobs/", { principal, body });
    const status = async (id: string) => {
      const response = await service.ask("GET", `/v1/jobs/${encodeURIComponent(id)}`, { principal });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return JobStatus.parse(JSON.parse(text));
    };
    return {
      principal,
      locationId,
      queued: (id) => queue.getJob(queuedId({ locationId, id })),
      ask,
      status,
      async create(body) {
        const response = await ask(body);
        const text = await response.text();
        expect(response.status, text).toBe(201);
        return Job.parse(JSON.parse(text));
      },
      async refusal(body) {
        const response = await ask(body);
        const problem = problemSchema.parse(await response.json());
        expect(problem.status).toBe(response.status);
        return problem;
      },
      inState(id, state, withinSeconds = 20) {
        const isInState = async () => {
          const job = await status(id);
          return job.state === state && job;
        };
        return eventually(`${id} to be ${state}`, isInState, { withinSeconds });
      },
      async nextRun(id) {
        const [run] = await service.db.sql<{ dueAt: Date }[]>`
          select due_at from jobs
          where location_id = ${locationId} and run_of = ${id} and queued_at is null order by due_at desc limit 1`;
        return run?.dueAt;
      },
      async isForgotten(id) {
        const response = await service.ask("GET", `/v1/jobs/${encodeURIComponent(id)}`, { principal });
        return response.status === 404;
      },
    };
  }

  async function emptyRedis(): Promise<void> {
    const keys = await redis.keys(`${prefix}:*`);
    if (keys.length > 0) await redis.unlink(...keys);
  }

  return {
    ...service,
    begun,
    released,
    redis,
    queue,
    openShop,
    startAnother: () => startTestService(definition, environment),
    emptyRedis,
    async remove() {
      await service.stop();
      await queue.close();
      await emptyRedis();
      redis.disconnect();
      await environment.remove();
    },
  };
}

/** A message that no other job has. */
export const unlike = (message: string) => `${message} ${randomUUID()}`;
