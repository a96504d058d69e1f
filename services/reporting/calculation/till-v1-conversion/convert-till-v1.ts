import { getSchemaFieldDefaults } from "@pragma/contracts/fields";
import type { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { convertPaymentModeCodeV1, convertTicketV1ToOrder } from "./convert-ticket-v1.ts";
import { createLocalToUtcConverter, type LocalToUtcConverter } from "./local-to-utc.ts";

const tillDefaults = getSchemaFieldDefaults(TillV2.shape);
const movementDefaults = getSchemaFieldDefaults(TillV2.shape.financialMovementList.element.shape);
const declaredPaymentDefaults = getSchemaFieldDefaults(TillV2.shape.declaredPaymentList.element.shape);

/**
 * Returns a V1 till as a V2 till. Fields that V1 does not have are null or have a default. Date-times without an offset
 * are in the location's time zone (IANA).
 *
 * @throws `AmountOutOfRangeError` when an amount that is computed is too large.
 */
export function convertTillV1ToV2(
  { tillJson: till }: TillV1,
  { tillId, timeZone }: { tillId: string; timeZone: string },
): TillV2 {
  const toInstant = createLocalToUtcConverter(timeZone);
  const orderList = till.tickets.map((ticket) => convertTicketV1ToOrder(ticket, tillId, toInstant));
  return {
    ...tillDefaults,
    id: tillId,
    note: till.note,
    establishmentName: till.ticket_name,
    siretCode: till.ticket_company,
    address1: till.ticket_address,
    zipCode: till.ticket_zip,
    city: till.ticket_city,
    country: till.ticket_country,
    phoneNumber: till.ticket_phone,
    website: till.ticket_url,
    tvaCode: till.ticket_tva,
    nafCode: till.ticket_naf,
    customHeader: till.ticket_text,
    deviceName: till.device_name,
    deviceIdentifier: till.device_id,
    startedAt: toInstant(till.date_begin),
    finalizedAt: toInstant(till.date_end),
    reportNumber: till.fiscal,
    locale: till.locale,
    clerkName: till.person_name,
    clerkId: till.person_id,
    initialCashBalance: till.cash_float_initial,
    finalCashBalance: till.cash_float_final,
    financialMovementList: till.cash_movements.map((movement) => convertCashMovement(movement, toInstant)),
    declaredPaymentList: convertDeclaredPayments(till.total_payments, orderList),
    clerkShiftList: till.team.map((member) => ({
      id: member.person_client_id,
      name: member.name,
      clockInDate: toInstant(member.date_begin),
      clockOutDate: toInstant(member.date_end),
    })),
    orderList,
  };
}

function convertCashMovement(
  movement: TillV1["tillJson"]["cash_movements"][number],
  toInstant: LocalToUtcConverter,
): TillV2["financialMovementList"][number] {
  const mode = movement.payment_mode;
  return {
    ...movementDefaults,
    amount: movement.amount,
    name: movement.name,
    type: movement.amount < 0 ? "cash-out" : "cash-in",
    recordedAt: toInstant(movement.creation_date),
    deviceIdentifier: movement.device_id,
    operatorId: movement.person_id,
    operatorName: movement.person,
    currencyCode: movement.currency,
    paymentMode: mode === null || mode === -1 ? null : convertPaymentModeCodeV1(mode),
    paymentName: movement.payment_name,
  };
}

/**
 * Returns the declared payments, which V1 tills declare by payment mode. The name is that of the till's first payment with
 * this mode, or else the mode.
 */
function convertDeclaredPayments(
  totals: TillV1["tillJson"]["total_payments"],
  orders: TillV2["orderList"],
): TillV2["declaredPaymentList"] {
  const nameByMode = new Map<string, string | null>();
  for (const { paymentMode, name } of orders.flatMap((order) => order.paymentRowList)) {
    if (!nameByMode.has(paymentMode)) nameByMode.set(paymentMode, name);
  }
  return totals.map(({ mode, amount }) => {
    const paymentMode = convertPaymentModeCodeV1(mode);
    return {
      ...declaredPaymentDefaults,
      paymentMode,
      paymentAmount: amount,
      paymentName: nameByMode.get(paymentMode) ?? paymentMode,
    };
  });
}
