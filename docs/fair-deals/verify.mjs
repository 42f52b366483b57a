// Checks the deals of a Hokm event without the arena: another language, another author's libraries,
// the same digests. Needs Node 18 or later, and nothing else.
//
//     node verify.mjs EVENT_FOLDER...     an event.json and the records beside it
//     node verify.mjs --vectors [FILE]    the test vectors, vectors.json unless said otherwise
//
// It is written from docs/record.md and docs/fair-deals.md, and checks
//   * that the secret is the one that was committed to, and that the entropy follows from the nonces
//     or from the beacon's value;
//   * that every match has the id that its round and entrants make, is there once, with the record of
//     every attempt and no other, each with the digest and the entrants that the event states;
//   * that every game of every room is there once, every seed is the secret's, and every deck the
//     seed's.
// Whether the cards were then played by the rules is for `arena verify`: that needs the rules.

import { createHash, createHmac } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

// -- bytes, digests, canonical JSON

const LARGEST_BYTES = 64 * 2 ** 20;

const bytes = (hex) => Buffer.from(hex, "hex");
const sha256 = (data) => createHash("sha256").update(data).digest();
const hmac = (key, data) => createHmac("sha256", key).update(data).digest();
const zero = Buffer.from([0]);
const be32 = (number) => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(number);
  return out;
};

/** Keys sorted, no white space; JSON.stringify does the rest as other languages do. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.keys(value).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

const digestOf = (value) => sha256(Buffer.from(canonical(value))).toString("hex");

// -- from the secret to a deck

export const commitment = (secret) => sha256(Buffer.concat([Buffer.from("hokm-commit-v1\0"), secret]));

export const mix = (secret, entropy) =>
  hmac(secret, Buffer.concat([Buffer.from("hokm-mix-v1\0"), entropy]));

export const boardSeed = (mixed, dealId, board) =>
  hmac(mixed, Buffer.concat([Buffer.from("hokm-board-v1\0"), Buffer.from(dealId), zero, be32(board)]));

export const entropyOfNonces = (nonces) =>
  nonces.length === 0 ? Buffer.alloc(0) : sha256(Buffer.concat([...nonces].sort(Buffer.compare)));

export const entropyOfBeacon = (value) =>
  /^[0-9a-fA-F]{64}$/.test(value) ? bytes(value) : sha256(Buffer.from(value));

/** The name under which a match's decks are dealt. */
export const dealId = (match, attempt = 1, pair = null) =>
  match + (attempt === 1 ? "" : `!${attempt}`) + (pair === null ? "" : `/g${pair}`);

/** Uniform numbers from bytes, where a byte that would favour some of them is thrown away. */
class Stream {
  constructor(seed, label) {
    this.seed = seed;
    this.prefix = Buffer.concat([Buffer.from("hokm-stream-v1\0"), Buffer.from(label), zero]);
    this.block = Buffer.alloc(0);
    this.at = 0;
    this.blocks = 0;
    this.used = 0;
  }

  below(n) {
    const limit = 256 - (256 % n);
    for (;;) {
      if (this.at === this.block.length) {
        this.block = hmac(this.seed, Buffer.concat([this.prefix, be32(this.blocks++)]));
        this.at = 0;
      }
      const byte = this.block[this.at++];
      this.used++;
      if (byte < limit) return byte % n;
    }
  }
}

export function shuffled(pack, seed, label = "deck") {
  const stream = new Stream(seed, label);
  const deck = [...pack];
  for (let i = deck.length - 1; i > 0; i--) {
    const j = stream.below(i + 1);
    [deck[i], deck[j]] = [deck[j], deck[i]];
  }
  return { deck, used: stream.used };
}

const RANKS = "23456789TJQKA";
const SUITS = "CDHS";
const cardText = (card) => RANKS[card % 13] + SUITS[Math.floor(card / 13)];

/** The cards that are dealt, ascending: with three at the table without a two. */
function packOf(substance) {
  const all = [...Array(52).keys()];
  if (substance.players !== 3) return all;
  return all.filter((card) => cardText(card) !== `2${substance.rules.removed_two}`);
}

// -- an event

class Findings {
  constructor() {
    this.list = [];
  }

  /** Note `what` unless it `holds`; returns whether it does. */
  check(holds, what) {
    if (!holds) this.list.push(what);
    return holds;
  }
}

const same = (a, b) => canonical(a) === canonical(b);

function readJson(file) {
  const raw = readFileSync(file);
  const data = file.endsWith(".gz") ? gunzipSync(raw, { maxOutputLength: LARGEST_BYTES }) : raw;
  const document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  const { checksum, ...rest } = document;
  if (checksum !== digestOf(rest)) throw new Error("the checksum does not fit: damaged, or edited");
  return document;
}

/** Checks an event's folder; returns what is not so, and counts of what was looked at. */
export function checkEvent(folder) {
  const found = new Findings();
  const event = readJson(join(folder, "event.json"));
  if (event.schema !== "hokm-event-v1") throw new Error(`no hokm-event-v1 but ${event.schema}`);
  const announced = event.announcement;
  found.check(
    event.announcement_digest === digestOf(announced),
    "the announcement's digest is another",
  );
  const secret = event.secret === null ? null : bytes(event.secret);
  if (secret !== null) {
    found.check(
      commitment(secret).toString("hex") === announced.commitment,
      "the secret is not the one that was committed to",
    );
  }
  const entropy = checkEntropy(event, found);
  const mixed = secret === null || entropy === null ? null : mix(secret, entropy);

  const counts = { matches: 0, records: 0, seeds: 0, decks: 0 };
  const ids = new Set();
  const files = new Set(["event.json"]);
  for (const match of event.stages.flatMap((stage) => stage.matches)) {
    counts.matches++;
    if (!checkMatch(event, match, ids, found)) continue; // another id could lead out of the folder
    for (const attempt of match.attempts) {
      const id = dealId(match.match, attempt.number);
      const name = `${id.slice(id.indexOf("/") + 1)}.json.gz`;
      files.add(name);
      let record;
      try {
        record = readJson(join(folder, name));
      } catch (error) {
        found.check(false, `${id}: its record: ${error.message}`);
        continue;
      }
      counts.records++;
      checkRecord(event, match, attempt, record, mixed, counts, (holds, what) =>
        found.check(holds, `${id}: ${what}`),
      );
    }
  }
  if (secret !== null) {
    for (const name of filesOf(folder)) {
      found.check(files.has(name), `there is a file ${name} that the event does not name`);
    }
  }
  return { event, findings: found.list, counts, isRevealed: secret !== null };
}

function checkEntropy(event, found) {
  const { beginning, nonces } = event;
  if (beginning === null) return null;
  const { beacon } = event.announcement;
  const source = beacon !== null ? "beacon" : nonces.length > 0 ? "nonces" : "nothing";
  found.check(
    beginning.source === source,
    `the entropy comes from ${beginning.source}, and should from ${source}`,
  );
  found.check(beacon === null || nonces.length === 0, "there are nonces beside a beacon");
  const entropy =
    beginning.source === "beacon"
      ? entropyOfBeacon(beginning.beacon_value)
      : entropyOfNonces(nonces.map((one) => bytes(one.nonce)));
  const stated = bytes(beginning.entropy);
  found.check(entropy.equals(stated), `the entropy is ${entropy.toString("hex")} by its source`);
  return stated;
}

function checkMatch(event, match, ids, found) {
  const names = [...match.entrants].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const id = `${event.announcement.event}/r${match.round}/${names.join("~")}`;
  const isNamed = !/[/\\]/.test(names.join(""));
  const isIts = isNamed && match.match === id;
  found.check(isIts, `${match.match}: by its round and entrants its id is ${id}`);
  found.check(!ids.has(match.match), `${match.match}: it is scheduled twice`);
  ids.add(match.match);
  match.attempts.forEach((attempt, place) => {
    found.check(attempt.number === place + 1, `${match.match}: an attempt is missing or repeated`);
    const isLast = place === match.attempts.length - 1;
    found.check(
      isLast || attempt.voided_by === "HOST_FAULT",
      `${match.match}: attempt ${attempt.number} is followed by another, without a fault of the host`,
    );
  });
  const counting = match.attempts.filter((attempt) => attempt.voided_by === null).length;
  found.check(
    counting === (match.state === "played" ? 1 : 0),
    `${match.match}: it is ${match.state}, and ${counting} attempts count`,
  );
  if (event.secret !== null) {
    found.check(match.state !== "scheduled", `${match.match}: the event is over without it`);
  }
  return isIts;
}

function checkRecord(event, match, attempt, record, mixed, counts, check) {
  const { substance, reveal } = record;
  const announced = event.announcement;
  const digest = digestOf(substance);
  check(record.substance_digest === digest, "its substance digest is not that of its substance");
  check(digest === attempt.substance_digest, "its substance digest is not the one the event states");
  for (const [name, stated] of [
    ["match", match.match],
    ["attempt", attempt.number],
    ["event", announced.event],
    ["commitment", announced.commitment],
    ["format", announced.format],
    ["players", announced.players],
    ["rules", announced.rules],
    ["games", announced.games],
    ["entrants", match.entrants.map((name) => event.entrants.find((one) => one.name === name))],
  ]) {
    check(same(substance[name], stated), `its ${name} is not as the event states`);
  }
  if (mixed !== null) {
    check(
      reveal.secret === event.secret && reveal.entropy === event.beginning.entropy,
      "it does not reveal the event's secret and entropy",
    );
  }

  const seeds = new Map();
  for (const { game, hand, seed } of substance.seeds) {
    const key = `${game} ${hand}`;
    check(!seeds.has(key), `game ${game}: the seed of hand ${hand} is there twice`);
    seeds.set(key, seed);
    counts.seeds++;
    if (mixed === null) continue;
    const isRace = substance.format === "classic";
    const name = dealId(substance.match, substance.attempt, isRace ? game : null);
    const own = boardSeed(mixed, name, isRace ? hand : game).toString("hex");
    check(own === seed, `game ${game}: the seed of hand ${hand} is not the secret's`);
  }
  if (substance.format === "boards") {
    for (let board = 1; board <= substance.games; board++) {
      check(seeds.has(`${board} 1`), `board ${board}: its seed is not revealed`);
    }
  }

  const pack = packOf(substance);
  for (const room of substance.rooms) {
    const numbers = room.games.map((game) => game.number);
    const all = [...Array(substance.games).keys()].map((place) => place + 1);
    check(same(numbers, all), `room ${room.number}: games are missing, repeated or in disorder`);
    for (const game of room.games) {
      for (const hand of game.hands) {
        counts.decks++;
        const where = `room ${room.number}, game ${game.number}, hand ${hand.number}`;
        const seed = seeds.get(`${game.number} ${hand.number}`);
        if (!check(seed !== undefined, `${where}: its seed is not revealed`)) continue;
        const { deck } = shuffled(pack, bytes(seed));
        check(deck.map(cardText).join(" ") === hand.deck, `${where}: the deck is not its seed's`);
      }
    }
  }
}

/** Files below a folder, but for hidden ones: those are of a write that was broken off. */
function filesOf(folder, below = "") {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.name.startsWith(".")) return [];
    return entry.isDirectory() ? filesOf(folder, name) : [name];
  });
}

// -- the vectors

/** Returns what does not come out as the vectors have it, and how many there were. */
export function checkVectors(file) {
  const vectors = JSON.parse(readFileSync(file, "utf8"));
  const found = new Findings();
  let count = 0;
  const equal = (name, got, expected) => {
    count++;
    found.check(same(got, expected), `${name}: ${canonical(got)}, not ${canonical(expected)}`);
  };
  for (const one of vectors.shuffle) {
    const pack = [...Array(52).keys()].filter((card) => card >= one.lowest);
    const { deck, used } = shuffled(pack, bytes(one.seed), one.label);
    equal(`deck of ${one.seed}, label ${one.label}`, deck, one.order);
    equal(`bytes used by ${one.seed}`, used, one.bytes_used);
    if (one.text) equal(`cards of ${one.seed}`, deck.map(cardText).join(" "), one.text);
    if (one.sha256) equal(`bytes of ${one.seed}`, sha256(Buffer.from(deck)).toString("hex"), one.sha256);
    if (one.first8) {
      const first = new Stream(bytes(one.seed), one.label);
      const drawn = Buffer.from([...Array(8)].map(() => first.below(256)));
      equal(`stream of ${one.seed}`, drawn.toString("hex"), one.first8);
    }
  }
  for (const event of vectors.event) {
    equal("commitment", commitment(bytes(event.secret)).toString("hex"), event.commitment);
    const mixed = mix(bytes(event.secret), bytes(event.entropy));
    equal("mix", mixed.toString("hex"), event.mixed);
    for (const one of event.boards) {
      const name = dealId(one.match, one.attempt ?? 1, one.pair ?? null);
      equal("deal id", name, one.deal_id ?? one.match);
      const seed = boardSeed(mixed, name, one.board ?? one.hand);
      equal(`seed of ${name}`, seed.toString("hex"), one.seed);
      if (one.deck) equal(`deck of ${name}`, shuffled([...Array(52).keys()], seed).deck, one.deck);
    }
  }
  for (const one of vectors.nonces) {
    equal("nonces", entropyOfNonces(one.nonces.map(bytes)).toString("hex"), one.entropy);
  }
  for (const one of vectors.beacons) {
    equal(`beacon ${one.value}`, entropyOfBeacon(one.value).toString("hex"), one.entropy);
  }
  return { findings: found.list, count };
}

// -- the command

function main(words) {
  if (words.length === 0) {
    console.error("usage: node verify.mjs EVENT_FOLDER... | --vectors [FILE]");
    return 2;
  }
  if (words[0] === "--vectors") {
    const here = dirname(fileURLToPath(import.meta.url));
    const { findings, count } = checkVectors(words[1] ?? join(here, "vectors.json"));
    findings.forEach((line) => console.log(line));
    console.log(findings.length === 0 ? `${count} vectors: ok` : `${findings.length} of ${count} differ`);
    return findings.length === 0 ? 0 : 1;
  }
  let status = 0;
  for (const folder of words) {
    try {
      if (!existsSync(join(folder, "event.json"))) throw new Error("there is no event.json in it");
      const { event, findings, counts, isRevealed } = checkEvent(folder);
      findings.forEach((line) => console.log(`${folder}: ${line}`));
      if (findings.length > 0) status = 1;
      else console.log(`${folder}: ok`);
      const { matches, records, seeds, decks } = counts;
      console.log(`  event ${event.announcement.event} of ${event.announcement.ladder}`);
      console.log(`  ${matches} matches, ${records} records, ${seeds} seeds, ${decks} decks`);
      if (!isRevealed) console.log("  the secret is not revealed yet: seeds were not compared with it");
    } catch (error) {
      console.error(`error: ${folder}: ${error.message}`);
      status = 1;
    }
  }
  return status;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
