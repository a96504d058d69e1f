import type { PackedTillIndex } from "../queries/packed-tills.ts";
import {
  addBlockChecksum,
  encodeOrderBlock,
  encodeReportBlock,
  maxBlockTextBytes,
  maxOrdersPerBlock,
  type PackedOrderTexts,
  type PackedReportTexts,
} from "./pack-format.ts";

/** The bytes of an object, and where its blocks are in it. */
export interface PackedObject extends Omit<PackedTillIndex, "objectKey"> {
  bytes: Buffer;
}

/** Returns functions that build the object of a till: first add its report, and then its orders. */
export function createPackedObjectBuilder(objectKey: string) {
  const blocks: Buffer[] = [];
  const blockFirstPositions: number[] = [];
  const blockV1Ends: number[] = [];
  let orders: PackedOrderTexts[] = [];
  let textBytes = 0;
  let orderCount = 0;

  function addBlock(compressed: Buffer, { firstPosition, v1End }: { firstPosition: number; v1End: number }): void {
    blocks.push(addBlockChecksum(compressed, { objectKey, block: blocks.length }));
    blockFirstPositions.push(firstPosition);
    blockV1Ends.push(v1End);
  }

  async function endOrderBlock(): Promise<void> {
    if (orders.length === 0) return;
    const { bytes, v1End } = await encodeOrderBlock(orders);
    addBlock(bytes, { firstPosition: orderCount - orders.length, v1End });
    orders = [];
    textBytes = 0;
  }

  return {
    async addReport(texts: PackedReportTexts): Promise<void> {
      addBlock(await encodeReportBlock(texts), { firstPosition: 0, v1End: 0 });
    },
    /** Adds an order, and returns its position in the object. */
    async addOrder(texts: PackedOrderTexts): Promise<number> {
      const bytes = texts.v1.byteLength + texts.v2.byteLength;
      if (orders.length === maxOrdersPerBlock || textBytes + bytes > maxBlockTextBytes) await endOrderBlock();
      orders.push(texts);
      textBytes += bytes;
      orderCount += 1;
      return orderCount - 1;
    },
    async finish(): Promise<PackedObject> {
      await endOrderBlock();
      let end = 0;
      const blockEnds = blocks.map(({ byteLength }) => {
        end += byteLength;
        return end;
      });
      return { bytes: Buffer.concat(blocks), blockEnds, blockFirstPositions, blockV1Ends };
    },
  };
}
