import type { Fault } from "@pragma/contracts/errors";

/** What this service needs to know of a till that was pushed; the rest of it is its body. */
export interface TillFacts {
  format: "V1" | "V2";
  /** Without the leading `s`, in lower case. */
  tillId: string;
  isTraining: boolean;
  orderCount: number;
  /** In the legacy backoffice that the till comes from; null for V2. */
  serverId: number | null;
}

/** What is wrong with a till: the first faults, and how many there are in all. */
export interface FaultyTill {
  faults: Fault[];
  count: number;
}

/** A till that is as it should be, or what is wrong with it. */
export type CheckedTill = { facts: TillFacts } | FaultyTill;
