// The recorded walk, and what is known of it at each micro step. Nothing is computed here: before
// a line has run the value is the one that was carried, after it the one that was recorded.

class GatherLog {
  constructor({ header, columns }) {
    Object.assign(this, header);
    this.column = columns;
    this.names = header.micro_steps;
    this.rank = Object.fromEntries(this.names.map((name, i) => [name, i]));
    this.shown = Math.min(this.head_size, 4); // components that are drawn
    this.movedAt = Array.from({ length: this.seq_len }, (_, t) => columns.m[t] > columns.m_old[t]);
  }

  vector(name, token) {
    const from = token * this.head_size;
    return this.column[name].subarray(from, from + this.head_size);
  }

  // The state of the walk at a position.
  at(position) {
    const rank = this.column.kind[position];
    const token = this.column.token[position];
    const kind = this.names[rank];
    const folding = rank >= this.rank.load && rank <= this.rank.acc;
    const ran = (name) => (folding ? rank >= this.rank[name] : token >= 0);
    return {
      position,
      kind,
      token,
      folding,
      ran,
      logical: this.column.logical[position],
      moved: token >= 0 && this.movedAt[token],
      read: token + 1,
      folded: folding && !ran("acc") ? token : token + 1,
      ...this.values(token, ran),
    };
  }

  values(token, ran) {
    if (token < 0) return { m: -Infinity, l: 0, acc: new Float64Array(this.head_size) };
    const column = this.column;
    return {
      s: column.s[token],
      corr: column.corr[token],
      p: column.p[token],
      m: ran("max") ? column.m[token] : column.m_old[token],
      l: ran("l") ? column.l[token] : this.carriedL(token),
      acc: ran("acc") ? this.vector("acc", token) : this.carriedAcc(token),
    };
  }

  carriedL(token) {
    return token > 0 ? this.column.l[token - 1] : 0;
  }

  carriedAcc(token) {
    return token > 0 ? this.vector("acc", token - 1) : new Float64Array(this.head_size);
  }

  block(logical) {
    return this.block_table[logical];
  }

  // Tokens that logical block `logical` holds.
  held(logical) {
    return Math.min(this.block_size, this.seq_len - logical * this.block_size);
  }

  // The position at which token `token` is completely folded.
  foldedAt(token) {
    const column = this.column;
    for (let i = 0; i < this.num_steps; i++) {
      if (column.kind[i] === this.rank.acc && column.token[i] === token) return i;
    }
    return 0;
  }

  // Smallest and largest value of a column, 0 included.
  range(name, components) {
    let [low, high] = [0, 0];
    this.column[name].forEach((x, i) => {
      if (components && i % this.head_size >= components) return;
      low = Math.min(low, x);
      high = Math.max(high, x);
    });
    return [low, high];
  }
}
