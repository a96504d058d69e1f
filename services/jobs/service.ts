import { defineJobsService } from "./define-jobs-service.ts";
import { waitOut } from "./wait-out.ts";

/** Offers queues of jobs to whoever may use them, and does the jobs. */
export default defineJobsService({ perform: waitOut });
