// Checks the deals of a Hokm event without the arena: another language, another author's libraries,
// the same digests. Needs Node 18 or later, and nothing else.
//
//     node verify.mjs EVENT_FOLDER...     an event.json and the records beside it
//     node verify.mjs --vectors [FILE]    the test vectors, vectors.json unless said otherwise
//
// It is written from docs/record.md and docs/fair-deals.md, and checks
//   * that the secret is the one that was committed to, and that the entropy follows from the nonces,
//     one each of those who were entered in time, or from the beacon's value;
//   * that every match has the id that its round and entrants make, is there once and between bots of
//     its stage's field, with the record of every attempt and no other, each with the digest, the
//     entrants and all else that the event states;
//   * that an attempt is void if a game of its record ended so, and only then;
//   * that every room is there, seats the entrants as it must, and has every game once; that every
//     seed is the secret's, and every deck the seed's.
// What it does not check it says, in lines that begin with `not checked`. Whether the cards were then
// played by the rules is for `arena verify`: that needs the rules.

import { createHash, createHmac } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

// -- bytes, digests, canonical JSON

const LARGEST_BYTES = 64 * 2 ** 20;
const ATTEMPTS = 3;

/** Whether a text is 32 bytes: a secret, a nonce, a seed, a digest. */
const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

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

/** The document of a schema in a file; throws for one that others could read as another. */
function readJson(file, schema) {
  const { size } = regular(file);
  if (size > LARGEST_BYTES) throw new Error(`over ${LARGEST_BYTES} bytes`);
  const raw = readFileSync(file);
  const data = file.endsWith(".gz") ? gunzipSync(raw, { maxOutputLength: LARGEST_BYTES }) : raw;
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  const document = JSON.parse(text);
  refuseLoose(text);
  const { checksum, ...rest } = document;
  if (checksum !== digestOf(rest)) throw new Error("the checksum does not fit: damaged, or edited");
  if (document.schema !== schema) throw new Error(`no ${schema} but ${document.schema}`);
  return document;
}

/** What the system says of a file; throws for a pipe, which would have us wait, and a device. */
function regular(file) {
  const found = statSync(file);
  if (!found.isFile()) throw new Error("not a regular file");
  return found;
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|[{}[\]]|-?\d[\d.eE+-]*/gs;

/** JSON has one reading if no object has a key twice, and no number is another than an integer. */
function refuseLoose(text) {
  const open = []; // of each object that is not closed yet its keys, of a list null
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      if (open.at(-1).has(key)) throw new Error("a key stands twice in one object");
      open.at(-1).add(key);
    } else if (!token.startsWith('"') && /[.eE]/.test(token)) {
      throw new Error(`${token.slice(0, 40)} is no integer`);
    }
  }
}

/** A name of a bot or an event; what else is in one could lead out of the folder. */
const isName = (text) =>
  typeof text === "string" &&
  /^[\p{L}\p{Nd}_][\p{L}\p{Nd}._-]{0,39}$/u.test(text) &&
  text === text.normalize("NFC");

/** What a beacon is called, or published: one line in one spelling. */
const isLine = (text) =>
  typeof text === "string" &&
  text !== "" &&
  [...text].length <= 4096 &&
  text === text.normalize("NFC") &&
  !/\p{Cc}|\p{Cs}|^[^\S\ufeff]|[^\S\ufeff]$/u.test(text);

/** Checks an event's folder; returns what is not so, and counts of what was looked at. */
export function checkEvent(folder) {
  const found = new Findings();
  const event = readJson(join(folder, "event.json"), "hokm-event-v1");
  const announced = event.announcement;
  found.check(
    event.announcement_digest === digestOf(announced),
    "the announcement's digest is another",
  );
  found.check(isHash(announced.commitment), "the commitment is no 64 hex digits");
  found.check(event.secret === null || isHash(event.secret), "the secret is no 64 hex digits");
  checkEntrants(event, found);
  const secret = event.secret === null ? null : bytes(event.secret);
  if (secret !== null) {
    found.check(
      commitment(secret).toString("hex") === announced.commitment,
      "the secret is not the one that was committed to",
    );
  }
  const entropy = checkEntropy(event, found);
  const mixed = secret === null || entropy === null ? null : mix(secret, entropy);

  checkStages(event, found);

  const counts = { matches: 0, void: 0, records: 0, seeds: 0, decks: 0 };
  const ids = new Set();
  const files = new Set(["event.json"]);
  for (const match of event.stages.flatMap((stage) => stage.matches)) {
    counts.matches++;
    if (match.state === "void") counts.void++;
    if (!checkMatch(event, match, ids, found)) continue; // another id could lead out of the folder
    for (const attempt of match.attempts) {
      const id = dealId(match.match, attempt.number);
      const name = `${id.slice(id.indexOf("/") + 1)}.json.gz`;
      files.add(name);
      let record;
      try {
        record = readJson(join(folder, name), "hokm-record-v1");
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
  return { event, findings: found.list, counts };
}

/** Who was entered, and brought a nonce. */
function checkEntrants(event, found) {
  const { beginning, entrants, nonces } = event;
  found.check(isName(event.announcement.event), `"${event.announcement.event}" is no name`);
  const names = entrants.map((one) => one.name);
  names.forEach((name, place) => {
    found.check(isName(name), `"${name}" is no name`);
    found.check(names.indexOf(name) === place, `${name} is entered twice`);
  });
  const many = beginning === null ? names.length : beginning.entrants;
  const isTrue = Number.isInteger(many) && many >= 0 && many <= names.length;
  found.check(isTrue, `it began with ${many} entrants, and there are ${names.length}`);
  const bringers = nonces.map((one) => one.entrant);
  nonces.forEach(({ entrant, nonce }, place) => {
    found.check(isHash(nonce), `the nonce of ${entrant} is no 64 hex digits`);
    found.check(bringers.indexOf(entrant) === place, `${entrant} has two nonces`);
    const at = names.indexOf(entrant);
    if (!found.check(at >= 0, `${entrant} has a nonce, and is none of the entrants`)) return;
    found.check(at < many, `${entrant} was entered later, and has a nonce`);
  });
}

/** The numbers of stages and rounds, and who was in each; not whom the schedule has meet. */
function checkStages(event, found) {
  const names = event.entrants.map((one) => one.name);
  const isEmpty = event.beginning === null && event.stages.length > 0;
  found.check(!isEmpty, "there are matches of an event that has not begun");
  let last = null;
  let round = null;
  const playing = new Set();
  for (const { number, field, matches } of event.stages) {
    found.check(Number.isInteger(number) && number >= 1, `${number} is no number of a stage`);
    found.check(last === null || number === last + 1, `stage ${number} follows stage ${last}`);
    last = number;
    for (const name of field) {
      const what = `${name} is in the field of stage ${number}, and is none of the entrants`;
      found.check(names.includes(name), what);
    }
    const places = field.map((name) => names.indexOf(name));
    found.check(
      places.every((place, at) => at === 0 || places[at - 1] < place),
      `the field of stage ${number} does not stand in the order in which bots were entered`,
    );
    matches.forEach((match, at) => {
      const follows = round === null || match.round === round || match.round === round + 1;
      found.check(follows, `round ${match.round} follows round ${round}`);
      const isOld = at === 0 && match.round === round;
      found.check(!isOld, `stage ${number} has rounds of the stage before it`);
      round = match.round;
      for (const name of match.entrants) {
        const what = `${match.match}: ${name} is not in the field of stage ${number}`;
        found.check(field.includes(name), what);
        const key = `${round} ${name}`;
        found.check(!playing.has(key), `${name} plays more than once in round ${round}`);
        playing.add(key);
      }
    });
  }
}

function checkEntropy(event, found) {
  const { beginning, nonces } = event;
  const { beacon } = event.announcement;
  found.check(beacon === null || isLine(beacon), "the beacon's name is no line in one spelling");
  if (beginning === null) return null;
  const source = beacon !== null ? "beacon" : nonces.length > 0 ? "nonces" : "nothing";
  found.check(
    beginning.source === source,
    `the entropy comes from ${beginning.source}, and should from ${source}`,
  );
  found.check(beacon === null || nonces.length === 0, "there are nonces beside a beacon");
  const isOfBeacon = beginning.source === "beacon";
  const value = beginning.beacon_value;
  found.check(
    (value !== null) === isOfBeacon,
    "a beacon's value belongs to an entropy from a beacon, and to no other",
  );
  found.check(value === null || isLine(value), "the beacon's value is no line in one spelling");
  const isText = beginning.entropy === "" || isHash(beginning.entropy);
  found.check(isText, "the entropy is no 64 hex digits");
  const entropy = isOfBeacon
    ? entropyOfBeacon(String(value))
    : entropyOfNonces(nonces.map((one) => bytes(one.nonce)));
  const stated = bytes(beginning.entropy);
  found.check(entropy.equals(stated), `the entropy is ${entropy.toString("hex")} by its source`);
  return stated;
}

function checkMatch(event, match, ids, found) {
  const names = [...match.entrants].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const id = `${event.announcement.event}/r${match.round}/${names.join("~")}`;
  const isNamed = [event.announcement.event, ...names].every(isName);
  const isNumbered = Number.isInteger(match.round) && match.round >= 1;
  const isIts = isNamed && isNumbered && match.match === id;
  found.check(isIts, `${match.match}: by its round and entrants its id is ${id}`);
  found.check(!ids.has(match.match), `${match.match}: it is scheduled twice`);
  ids.add(match.match);
  const states = ["scheduled", "played", "void"];
  found.check(states.includes(match.state), `${match.match}: "${match.state}" is no state`);
  const isTold = match.state !== "void" || Boolean(match.because);
  found.check(isTold, `${match.match}: it is void, and it is not said why`);
  const many = match.attempts.length;
  found.check(many <= ATTEMPTS, `${match.match}: it has ${many} attempts; ${ATTEMPTS} are the most`);
  const isOpen = (attempt) => attempt.voided_by === "HOST_FAULT" || attempt.struck !== undefined;
  const decided = many > 0 && !isOpen(match.attempts[many - 1]);
  found.check(
    match.state !== "scheduled" || !decided,
    `${match.match}: an attempt decided it, and it is still to be played`,
  );
  match.attempts.forEach((attempt, place) => {
    found.check(attempt.number === place + 1, `${match.match}: an attempt is missing or repeated`);
    const isLast = place === match.attempts.length - 1;
    found.check(
      isLast || isOpen(attempt),
      `${match.match}: attempt ${attempt.number} is followed by another, without a fault of the host`,
    );
  });
  const counts = (attempt) => attempt.voided_by === null && attempt.struck === undefined;
  const counting = match.attempts.filter(counts).length;
  found.check(
    counting === (match.state === "played" ? 1 : 0),
    `${match.match}: it is ${match.state}, and ${counting} attempts count`,
  );
  if (event.secret !== null) {
    found.check(match.state !== "scheduled", `${match.match}: the event is over without it`);
  }
  return isIts && match.attempts.every((attempt) => Number.isInteger(attempt.number));
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
    ["policy", "rated"],
    ["clock", clockOf(announced.clock)],
    [
      "entrants",
      match.entrants.map((name) => event.entrants.find((one) => one.name === name) ?? null),
    ],
  ]) {
    check(same(substance[name], stated), `its ${name} is not as the event states`);
  }
  const voided = voidedBy(substance);
  const came = (ending) => (ending === null ? "counts" : `is void by ${ending}`);
  check(
    voided === attempt.voided_by,
    `by its record it ${came(voided)}, and it is said to be ${
      attempt.voided_by === null ? "one that counts" : `void by ${attempt.voided_by}`
    }`,
  );
  checkRooms(substance, check);
  if (mixed !== null) {
    check(
      reveal.secret === event.secret && reveal.entropy === event.beginning.entropy,
      "it does not reveal the event's secret and entropy",
    );
  } else if (reveal.secret !== null) {
    const bound = commitment(bytes(reveal.secret)).toString("hex");
    check(bound === announced.commitment, "it reveals another secret than was committed to");
  }

  const seeds = new Map();
  for (const { game, hand, seed } of substance.seeds) {
    const key = `${game} ${hand}`;
    check(isHash(seed), `game ${game}: the seed of hand ${hand} is no 64 hex digits`);
    check(!seeds.has(key), `game ${game}: the seed of hand ${hand} is there twice`);
    const isThere = Number.isInteger(game) && game >= 1 && game <= substance.games;
    if (!check(isThere, `there is a seed of game ${game}, which is not there`)) continue;
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

/** Of a clock what a record has of it: without the tick at which others hear of an answer. */
const clockOf = ({ move_milliseconds, bank_milliseconds }) => ({
  move_milliseconds,
  bank_milliseconds,
});

/** The ending that keeps a record from counting, or null: a fault of the host says most. */
function voidedBy(substance) {
  const games = substance.rooms.flatMap((room) => room.games);
  const endings = new Set(games.map((game) => game.outcome?.ending ?? "STOPPED"));
  return ["HOST_FAULT", "NEVER_STARTED", "STOPPED"].find((one) => endings.has(one)) ?? null;
}

/** By how many seats a seating is the first one moved on; -1 if it is another order. */
function moved(seating, first) {
  return first.findIndex((_, by) => same(seating, [...first.slice(by), ...first.slice(0, by)]));
}

/** Room 1 seats the entrants in the order named, the others move them on, so that every side plays
 *  in every side's place once. With three at the table even boards go round the other way. */
function checkRooms(substance, check) {
  const { players, rooms } = substance;
  const many = substance.entrants.length;
  const sides = players === 3 ? 3 : 2;
  check(rooms.length === sides, `it has ${rooms.length} rooms, and should have ${sides}`);
  const seats = [...Array(players).keys()];
  const onwards = seats.map((seat) => seat % many);
  const backwards = seats.map((seat) => (players - seat) % many);
  const taken = new Set();
  rooms.forEach((room, place) => {
    const here = `room ${room.number}`;
    const what = `the room that stands as number ${place + 1} is number ${room.number}`;
    check(room.number === place + 1, what);
    const by = moved(room.seating, onwards);
    const isOne = by >= 0 && (place > 0 || by === 0);
    if (!check(isOne, `${here}: the seating ${room.seating} is none of this match`)) return;
    const isNew = !taken.has(by % sides);
    check(isNew, `${here}: every side sits where it sat in another room`);
    taken.add(by % sides);
    const even = room.even_seating ?? null;
    const isEven = even === null ? players !== 3 : moved(even, backwards) === by;
    check(isEven, `${here}: the seating ${even} is none of its even games`);
    for (const game of room.games) {
      const own = game.seating ?? null;
      check(own === null, `${here}, game ${game.number}: it has a seating of its own`);
    }
  });
}

/** What nobody can tell from the folder, or what this program leaves to the other. */
function* unchecked(event) {
  const { announcement, beginning, secret, stages } = event;
  const source = beginning?.source;
  if (secret !== null && beginning === null) {
    yield "why it was called off: how often that happens, and whether the entropy was known";
  }
  if (source === "nothing") {
    yield "that nobody chose the secret for its deals: there is no entropy";
  } else if (source === "nonces") {
    yield "whether whoever brought the last nonce knew the secret, or the other nonces";
  } else if (source === "beacon") {
    yield `whether ${announcement.beacon} published that value, and not before the announcement`;
  }
  if (secret === null) {
    yield "the secret is not revealed yet: seeds were not compared with it";
  }
  const played = new Set(stages.flatMap((stage) => stage.field));
  const late = event.entrants.slice(beginning?.entrants ?? event.entrants.length);
  const names = late.map((one) => one.name).filter((name) => played.has(name));
  if (names.length > 0) {
    const what = "entered when the entropy was fixed, so by somebody who may have known the deals";
    yield `${what}: ${names.join(", ")}`;
  }
  const matches = stages.flatMap((stage) => stage.matches);
  for (const match of matches) {
    const struck = match.attempts.filter((attempt) => attempt.struck !== undefined);
    if (match.state === "void" && match.attempts.at(-1)?.struck === undefined) {
      yield `whether ${match.match} had to be void: ${match.because}`;
    }
    for (const attempt of struck) {
      const name = dealId(match.match, attempt.number);
      yield `whether ${name} had to be struck out by the operator: ${attempt.struck}`;
    }
  }
  if (matches.length > 0) {
    yield "the play, and whether the matches are those that the schedule makes: arena verify does";
  }
}

/** Files below a folder, but for hidden ones: those are of a write that was broken off. */
function filesOf(folder, below = "") {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return filesOf(folder, name);
    return entry.name.startsWith(".") ? [] : [name];
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

/** One line, whatever stands in a document that somebody else has written. */
const printable = (text) => text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, "?");

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
      const { event, findings, counts } = checkEvent(folder);
      findings.forEach((line) => console.log(printable(`${folder}: ${line}`)));
      if (findings.length > 0) status = 1;
      else console.log(`${folder}: ok`);
      const { matches, records, seeds, decks } = counts;
      const ofThem = counts.void === 0 ? "," : `, ${counts.void} of them void;`;
      const { event: name, ladder } = event.announcement;
      console.log(printable(`  event ${name} of ${ladder}`));
      console.log(`  ${matches} matches${ofThem} ${records} records, ${seeds} seeds, ${decks} decks`);
      for (const line of unchecked(event)) console.log(printable(`  not checked: ${line}`));
    } catch (error) {
      console.error(printable(`error: ${folder}: ${error.message}`));
      status = 1;
    }
  }
  return status;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
