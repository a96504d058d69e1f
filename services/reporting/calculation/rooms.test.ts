import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder } from "../testing/till-fixtures.ts";

const diningRoomOrder = { roomName: "Salle", roomType: "room", total: 1100, totalWithoutTax: 1000 } as const;

test("sums sales by room, with a separate total for orders with guests", () => {
  const orders = [
    { ...diningRoomOrder, guestsCount: 2 },
    diningRoomOrder,
    { ...diningRoomOrder, isCanceled: true, guestsCount: 9 },
  ];
  expect(computeTestTillReport(orders.map((order) => buildTestOrder(order))).reportV2.reportRooms).toEqual([
    {
      name: "Salle",
      type: "room",
      orderCount: 2,
      guestCount: 2,
      total: 2200,
      totalExcludingTax: 2000,
      totalWithGuest: 1100,
    },
  ]);
});

test("groups rooms by name and type, and treats null as a value", () => {
  const orders = [
    diningRoomOrder,
    { ...diningRoomOrder, roomType: "bar" as const },
    { ...diningRoomOrder, roomName: null },
    { ...diningRoomOrder, roomType: null },
    diningRoomOrder,
  ];
  const rooms = computeTestTillReport(orders.map((order) => buildTestOrder(order))).reportV2.reportRooms;
  expect(rooms.map(({ name, type, orderCount }) => [name, type, orderCount])).toEqual([
    ["Salle", "room", 2],
    ["Salle", "bar", 1],
    [null, "room", 1],
    ["Salle", null, 1],
  ]);
});

test("lists a room whose total is 0", () => {
  expect(
    computeTestTillReport([buildTestOrder({ ...diningRoomOrder, total: 0, totalWithoutTax: 0 })]).reportV2.reportRooms,
  ).toHaveLength(1);
});
