import { getPriority } from "node:os";

/** A worker pool task for tests. Returns the niceness of its thread: a higher number means that others go first. */
export default function readThreadNiceness(_: unknown): number {
  return getPriority();
}
