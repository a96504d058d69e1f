import TabItem from "@theme/TabItem";
import Tabs from "@theme/Tabs";
import MDXComponents from "@theme-original/MDXComponents";
import { Diagram } from "../../diagrams/Diagram.tsx";
import { Message } from "../../examples/Message.tsx";
import { Reply } from "../../examples/Reply.tsx";
import { Request } from "../../examples/Request.tsx";
import { Amount } from "../../money/Amount.tsx";

/** What pages use without importing it. */
export default { ...MDXComponents, Amount, Diagram, Message, Reply, Request, TabItem, Tabs };
