import TabItem from "@theme/TabItem";
import Tabs from "@theme/Tabs";
import MDXComponents from "@theme-original/MDXComponents";
import { Diagram } from "../../diagrams/Diagram.tsx";
import { Message } from "../../examples/Message.tsx";
import { Request } from "../../examples/Request.tsx";
import { Response } from "../../examples/Response.tsx";
import { Amount } from "../../money/Amount.tsx";

/** The components that MDX pages can use without an import. */
export default { ...MDXComponents, Amount, Diagram, Message, Request, Response, TabItem, Tabs };
