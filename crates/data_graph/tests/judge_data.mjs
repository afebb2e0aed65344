// The subgraphs of the judge and their data. Objects are the same everywhere; what a subgraph may answer, its schema says.

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3",
  import: ["@key", "@external", "@requires", "@provides", "@shareable", "@interfaceObject", "@override"])`;

export const subgraphs = [
  {
    name: "users",
    sdl: `${LINK}
      type Query {
        me: User
        user(id: ID!): User
        users(role: Role, first: Int = 3): [User!]!
        node(id: ID!): Node
        nodes: [Node]
        search(text: String, filter: Filter): [Hit!]
        banner: Banner @shareable
      }
      type Mutation { rename(id: ID!, name: String!): User invite(filter: Filter!): [Node] }
      interface Node @key(fields: "id") { id: ID! }
      enum Role { ADMIN STAFF GUEST }
      input Filter { role: Role ids: [ID!] }
      type User implements Node @key(fields: "id") @key(fields: "email") {
        id: ID! email: String name: String @shareable role: Role manager: User address: Address fails: String must: String! team: Team query: Query
      }
      type Bot implements Node @key(fields: "id") { id: ID! version: String owner: User }
      type Address @shareable { street: String city: String }
      union Hit = User | Team
      type Team @key(fields: "id org { id }") { id: ID! org: Org! members: [User] }
      type Org @key(fields: "id") { id: ID! }
      type Banner { id: ID! @shareable text: String }`,
  },
  {
    name: "products",
    sdl: `${LINK}
      type Query { top(first: Int): [Product] items: [Item] book(upc: ID!): Book grid: [[Item]] }
      enum Color { RED BLUE }
      interface Item { upc: ID! name: String }
      type Book implements Item @key(fields: "upc") { upc: ID! name: String pages: Int author: User }
      type Pen implements Item @key(fields: "upc") @key(fields: "sku") { upc: ID! sku: String name: String color: Color weight: Int dims: Dims }
      type Dims @shareable { w: Int h: Int }
      union Product = Book | Pen
      type User @key(fields: "id") { id: ID! favorite: Item books: [Book!] }`,
  },
  {
    name: "reviews",
    sdl: `
      type Query { review(id: ID!): Review }
      interface Item { upc: ID! }
      type Review @key(fields: "id") { id: ID! body(max: Int): String author: User @provides(fields: "name") about: Item stars: Float! }
      extend type User @key(fields: "id") { id: ID! @external name: String @external reviews(first: Int): [Review!] }
      extend type Book implements Item @key(fields: "upc") { upc: ID! @external reviews: [Review] }
      extend type Pen implements Item @key(fields: "upc") { upc: ID! @external reviews: [Review] }`,
  },
  {
    name: "stock",
    sdl: `${LINK}
      type Pen @key(fields: "sku") {
        sku: String dims: Dims @external weight: Int @external
        shipping: Int @requires(fields: "weight dims { w }") inStock: Boolean
      }
      type Dims @shareable { w: Int h: Int }
      type Book @key(fields: "upc") { upc: ID! pages: Int @external heavy: Boolean @requires(fields: "pages") inStock: Boolean }`,
  },
  {
    name: "orgs",
    sdl: `${LINK}
      type Query { org(id: ID!): Org banner: Banner @shareable }
      type Org @key(fields: "id") { id: ID! name: String owner: User address: Address }
      type Team @key(fields: "id org { id }") { id: ID! org: Org! budget: Int }
      type User @key(fields: "email") { email: String! salary: Float }
      type Address @shareable { street: String city: String }
      type Banner { id: ID! @shareable image: String org: Org }`,
  },
  {
    name: "audit",
    sdl: `${LINK}
      type Query { log(first: Int): [Node] }
      type Node @key(fields: "id") @interfaceObject { id: ID! created: Int seenBy: Team }
      type Team @key(fields: "id org { id }", resolvable: false) { id: ID! org: Org! }
      type Org @key(fields: "id", resolvable: false) { id: ID! }`,
  },
  {
    name: "levels",
    sdl: `${LINK}
      type User @key(fields: "id") { id: ID! level: Level @shareable }
      enum Level { HIGH LOW }`,
  },
  {
    // What it requires is below fields of others, has arguments, or requires more.
    name: "ads",
    sdl: `${LINK}
      type User @key(fields: "id") {
        id: ID! role: Role @external reviews(first: Int): [Review!] @external
        last: String @requires(fields: "reviews(first: 1) { body(max: 8) }")
      }
      enum Role { ADMIN STAFF GUEST }
      type Review @key(fields: "id") {
        id: ID! body(max: Int): String @external author: User @external
        ad: String @requires(fields: "author { role }")
      }
      type Pen @key(fields: "upc") { upc: ID! shipping: Int @external total: Int @requires(fields: "shipping") }
      type Book @key(fields: "upc") { upc: ID! inStock: Boolean @override(from: "stock") }`,
  },
  {
    // Its key has parts of two other subgraphs.
    name: "perks",
    sdl: `${LINK}
      type User @key(fields: "email level") { email: String level: Level bonus: Int }
      enum Level { HIGH LOW }`,
  },
];

const org = (id, name) => ({ __typename: "Org", id, name, address: { street: `${name} street`, city: "Rome" } });
const orgs = [org("1", "North"), org("2", "South")];
const team = (id, of, budget) => ({ __typename: "Team", id, org: of, budget });
const teams = [team("1", orgs[0], 10), team("1", orgs[1], 20), team("2", orgs[0], null)];
const user = (id, more) => ({
  __typename: "User", id, email: `${id}@example.org`, name: `user ${id}`, role: "STAFF", must: "there", salary: Number(id) * 1.5, level: Number(id) > 2 ? "HIGH" : "LOW", bonus: Number(id) * 7,
  last() {
    const list = typeof this.reviews === "function" ? this.reviews({ first: 1 }) : this.reviews;
    return list?.map((of) => (typeof of.body === "function" ? of.body({ max: 8 }) : of.body)).join() ?? null;
  }, created: Number(id),
  address: { street: `street ${id}`, city: "Oslo" }, query: {},
  ...more,
});
const users = [
  user("1", { role: "ADMIN" }),
  user("2", { fails() { throw new Error("it fails"); }, name: null }),
  user("3", { must() { throw new Error("it must not fail"); }, address: null }),
  user("4", { role: "GUEST", salary: null }),
  { __typename: "User", id: "ghost" },
];
const bots = [{ __typename: "Bot", id: "5", version: "v1", owner: users[0], created: 50 }, { __typename: "Bot", id: "6", version: null, owner: users[2] }];
const book = (upc, pages, author) => ({ __typename: "Book", upc, name: `book ${upc}`, pages, author, inStock: pages > 100, heavy() { return this.pages > 500; } });
const books = [book("1", 100, users[0]), book("2", 900, users[4]), book("3", null, null)];
const pen = (upc, sku, weight, dims) => ({
  __typename: "Pen", upc, sku, name: `pen ${upc}`, color: "RED", weight, dims, inStock: true,
  total() { return 100 + (typeof this.shipping === "function" ? this.shipping() : this.shipping); },
  shipping() { return (this.weight ?? 0) * 10 + (this.dims?.w ?? 0); },
});
const pens = [pen("4", "s4", 3, { w: 1, h: 2 }), pen("5", "s5", null, null)];
const review = (id, author, about, stars = 4.5) => ({
  __typename: "Review", id, author, about, stars,
  ad() { return this.author ? `for ${this.author.role ?? null}` : null; },
  body({ max }) { return `review ${id}`.slice(0, max ?? 100); },
});
const reviews = [
  review("1", users[0], books[0]), review("2", users[1], pens[0]), review("3", users[4], books[1]), review("4", null, null),
  review("5", users[2], pens[1], 1), review("6", users[0], books[0], null),
];

const cut = (list) => ({ first }) => list.slice(0, first ?? 100);
const items = [...books, ...pens];
for (const [index, one] of users.slice(0, 4).entries()) {
  one.manager = users[index + 1] ?? null;
  one.team = teams[index % 3];
  one.favorite = items[(index * 2) % 5];
  one.books = books.filter((of) => of.author === one);
  one.reviews = cut(reviews.filter((of) => of.author === one));
  one.seenBy = teams[(index + 1) % 3];
}
for (const one of items) one.reviews = reviews.filter((of) => of.about === one);
for (const one of teams) one.members = users.filter((of) => of.team === one);
orgs[0].owner = users[0];
orgs[1].owner = users[3];
const nodes = [...users.slice(0, 4), ...bots];
const banner = { id: "b", text: "hello", image: "hello.png", org: orgs[1] };

export const world = { User: users, Bot: bots, Team: teams, Org: orgs, Book: books, Pen: pens, Review: reviews, Node: nodes };

/** What a subgraph does not find. */
export const missing = { users: ["ghost"], products: ["ghost"], reviews: ["ghost"] };

const chosen = ({ role, ids } = {}) => users.slice(0, 4).filter((of) => (!role || of.role === role) && (!ids || ids.includes(of.id)));
export const rootValue = {
  me: users[0],
  user: ({ id }) => users.find((of) => of.id === id),
  users: ({ role, first }) => chosen({ role }).slice(0, first ?? 100),
  node: ({ id }) => nodes.find((of) => of.id === id),
  nodes: [...nodes, null],
  search: ({ text, filter }) => [...chosen(filter ?? {}), ...(text === "a" ? teams : [])],
  banner,
  rename: ({ id, name }) => { const found = users.find((of) => of.id === id); return found && Object.assign(Object.create(found), { name }); },
  invite: ({ filter }) => [...chosen(filter), bots[0]],
  top: cut([...items].reverse()),
  items: [...items, null],
  book: ({ upc }) => books.find((of) => of.upc === upc),
  grid: [[books[0], pens[0]], null, [], [null, pens[1]]],
  review: ({ id }) => reviews.find((of) => of.id === id),
  org: ({ id }) => orgs.find((of) => of.id === id),
  log: cut([bots[1], users[2], null, users[0], bots[0]]),
};
for (const one of users.slice(0, 4)) one.query = rootValue;
