import type { TryItOperation } from "../try-it/operation.ts";

/** The data of the page of an operation, which `reference/operation-page.mjs` generates. Texts are HTML. */
export interface OperationPageData {
  parameterGroups: { title: string; fields: FieldData[] }[];
  body?: BodyData & { mediaType: string; isRequired: boolean };
  /** The responses that are not errors, with a body for each content type. */
  responses: { status: string; reason: string; description: string; bodies: (BodyData & { mediaType: string })[] }[];
  /** The errors that the page lists. */
  errors: { status: string; code: string; title: string }[];
  /** Whether the operation can also return the errors of almost all operations, which the page of errors lists. */
  hasCommonErrors: boolean;
  operation: TryItOperation;
}

/** A parameter, or a field of a body. */
export interface FieldData extends FieldContentData {
  /** Anchor of the field on the page. */
  id: string;
  name: string;
  /** The type in words, such as `list of objects`. */
  type: string;
  required?: boolean;
  /** The description. */
  html?: string;
  /** The values of an enumeration. */
  values?: string[];
  /** Limits and the default, in words. */
  limits?: string[];
}

/** A field of a webhook message, which `reference/messages.mjs` describes. */
export interface MessageFieldData {
  /** Anchor of the row on the page. */
  id: string;
  /** The path of the field, such as `meta.id`. */
  name: string;
  type: string;
  isRequired: boolean;
  /** The description. */
  html: string;
  values: string[];
  /** The object that the field contains, which has its own table. */
  object?: { name: string; anchor: string };
}

export interface BodyData extends FieldContentData {
  id: string;
  type: string;
}

/** The fields below a field: of an object, or of each object in a list. */
export interface FieldContentData {
  fields?: FieldData[];
  /** The alternatives, if the object has several forms. */
  variants?: { label: string; fields: FieldData[] }[];
  /** Anchor of the field on the page that has the same fields. */
  sameAs?: string;
}
