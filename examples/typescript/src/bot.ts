/**
 * A bot from the generated code alone: gRPC, the messages of hokm.v1, and what is in this file.
 * What it plays is `choose`, and is up to you.
 */

import { credentials, Metadata } from "@grpc/grpc-js";

import type { Action, LegalActions } from "./gen/hokm/v1/action.js";
import { RefereeServiceClient } from "./gen/hokm/v1/referee_service.js";
import { type Decision, type FromBot, type FromReferee, Reason, type Refused } from "./gen/hokm/v1/session.js";


function main(): void {
  const client = new RefereeServiceClient(
    environment("HOKM_ADDRESS"),
    credentials.createInsecure(),
    { "grpc.enable_http_proxy": 0 },
  );
  const metadata = new Metadata();
  metadata.set("hokm-ticket", environment("HOKM_TICKET"));
  const call = client.play(metadata);
  const session = new Session();

  call.on("data", ({ messages }: { messages: FromReferee[] }) => {
    const replies = messages.flatMap((message) => session.replies(message));
    if (replies.length > 0) call.write({ messages: replies });
    if (session.isOver) call.end();
  });
  call.on("error", (error) => console.error(error.message));
  call.on("status", () => {
    client.close();
    process.exitCode = session.isOver ? 0 : 1;
  });
  call.write({
    messages: [
      {
        message: {
          $case: "hello",
          value: {
            protocol: 1,
            sdk: "none",
            name: "typescript",
            version: "1",
            concurrent: 16,
            games: [],
          },
        },
      },
    ],
  });
}

/** Refusals of what is no longer asked: there is nothing to answer again. */
const NOT_OPEN = [Reason.REASON_MATCH_OVER, Reason.REASON_STALE_DECISION];

/** What is to be remembered from one message to the next. */
class Session {
  isOver = false;
  /** The last decision of each game under way. */
  private readonly open = new Map<bigint, Decision>();

  /** What to say to a message: one message, or nothing. */
  replies({ message }: FromReferee): FromBot[] {
    switch (message?.$case) {
      case "decision":
        this.open.set(message.value.game, message.value);
        return [answer(message.value, 1)];
      case "refused":
        return this.again(message.value);
      case "gameEnd":
        this.open.delete(message.value.game);
        return [];
      case "protocolRefused":
        console.error("this bot speaks another protocol:", message.value);
        return [];
      case "goodbye":
        this.isOver = true;
        return [{ message: { $case: "goodbye", value: { reason: "" } } }];
      default: // to know of, and nothing to say: a welcome, a start, a kind of a later version
        return [];
    }
  }

  /** Whoever takes one of the legal actions is never refused; a bot with ideas of its own may be. */
  private again(refused: Refused): FromBot[] {
    console.error("refused:", refused.detail);
    if (NOT_OPEN.includes(refused.reason)) return [];
    const decision = this.open.get(refused.game);
    if (decision?.decision !== refused.decision) return [];
    return [answer(decision, refused.attempt + 1)];
  }
}

function answer({ game, decision, legal }: Decision, attempt: number): FromBot {
  if (legal === undefined) throw new Error("a decision without legal actions");
  const action = { action: choose(legal) };
  return { message: { $case: "answer", value: { game, decision, attempt, action, note: undefined } } };
}

/** The first legal action. One field has content; that says what is asked for. */
function choose(legal: LegalActions): Action["action"] {
  const [card] = legal.playCard;
  if (card !== undefined) return { $case: "playCard", value: card };
  const [trump] = legal.declareTrump;
  if (trump !== undefined) return { $case: "declareTrump", value: trump };
  const [cards] = legal.discardCards;
  if (cards !== undefined) return { $case: "discardCards", value: cards };
  const [draw] = legal.chooseDraw;
  if (draw !== undefined) return { $case: "chooseDraw", value: draw };
  if (legal.cutDeck > 0) return { $case: "cutDeck", value: 1 };
  throw new Error("asked for something this bot does not know");
}

function environment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: a bot is started by an arena`);
  return value;
}

main();
