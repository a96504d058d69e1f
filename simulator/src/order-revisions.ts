import type { OrderData } from "@pragma/contracts/order-data";
import type { TillV2 } from "@pragma/contracts/till-v2";
import type { Establishment } from "./establishment.ts";
import { changesOf, orderAt } from "./order-at.ts";
import { Random } from "./random.ts";

type TicketHeader = Pick<Establishment, (typeof headerFields)[number]>;

/** An open order as a point of sale sends it. */
export interface LiveOrder extends TicketHeader {
  id: string;
  tillId: string;
  revisionHash: string;
  data: OrderData;
}

/** One change of an order. */
export interface Revision {
  /** When it happens, in milliseconds. */
  readonly at: number;
  readonly order: LiveOrder;
}

/**
 * How the orders of a generated till came about: each change of each order, in the order in which they happen. An
 * order's last revision is the order as the till has it. The same till gives the same revisions.
 */
export function revisionsOf(till: TillV2 & Establishment): Revision[] {
  const header = ticketHeader(till);
  return till.orderList
    .flatMap((final) => {
      const random = new Random(`revisions/${final.revisionHash}`);
      return changesOf(final).map((instant): Revision => {
        const data = orderAt(final, instant);
        const revisionHash = (data === final && final.revisionHash) || random.uuid();
        return { at: Date.parse(instant), order: liveOrder(header, { ...data, revisionHash }) };
      });
    })
    .sort((one, other) => one.at - other.at);
}

/** An order of a till, with the header of the restaurant as its tickets show it. */
export function liveOrder(header: TicketHeader, data: OrderData): LiveOrder {
  const { id, tillId, revisionHash } = data;
  return { ...header, id, tillId: tillId ?? id, revisionHash: revisionHash ?? id, data };
}

/** What the tickets of a restaurant show of it. */
export function ticketHeader(establishment: Establishment): TicketHeader {
  return Object.fromEntries(headerFields.map((name) => [name, establishment[name]])) as unknown as TicketHeader;
}

const headerFields = [
  "establishmentName",
  "companyName",
  "siretCode",
  "tvaCode",
  "nafCode",
  "address1",
  "address2",
  "zipCode",
  "city",
  "country",
  "phoneNumber",
  "website",
  "customHeader",
  "customFooter",
] as const;
