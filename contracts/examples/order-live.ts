import { orderDataExample, tillV2Example } from "./till-v2.ts";

/** The example live order in the documentation: the kitchen is preparing it, and nothing is paid yet. */
export const orderLiveInputExample = {
  id: orderDataExample.id,
  tillId: tillV2Example.id,
  revisionHash: "0f1f0d6c0b1d4c8e9a4e5f8b7c2d3a61",
  establishmentName: tillV2Example.establishmentName,
  siretCode: tillV2Example.siretCode,
  companyName: tillV2Example.companyName,
  address1: tillV2Example.address1,
  zipCode: tillV2Example.zipCode,
  city: tillV2Example.city,
  country: tillV2Example.country,
  phoneNumber: tillV2Example.phoneNumber,
  tvaCode: tillV2Example.tvaCode,
  nafCode: tillV2Example.nafCode,
  customHeader: tillV2Example.customHeader,
  data: {
    ...orderDataExample,
    deviceIdentifier: tillV2Example.deviceIdentifier,
    deviceName: tillV2Example.deviceName,
    modifiedAt: "2026-05-29T10:21:40.000Z",
    closedAt: null,
    isPaid: false,
    leftToPay: 3430,
    paymentRowList: [],
  },
};

export const liveOrderLocationIdExample = "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5";
