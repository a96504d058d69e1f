import type { Fault } from "@pragma/contracts/errors";

export function bodyFault(path: string, code: string, message: string): Fault {
  return { in: "body", path, code, message };
}
