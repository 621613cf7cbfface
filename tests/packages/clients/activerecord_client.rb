# ActiveRecord connects, creates its tables, and works with them, a stream and its view.
require "active_record"

def check(truth, what)
  raise what.inspect unless truth
end

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: "127.0.0.1", port: ARGV[0].to_i, username: "antumbra", database: "antumbra"
)
ActiveRecord::Migration.verbose = false

ActiveRecord::Schema.define do
  create_table :cities, comment: "Cities" do |t|
    t.string :name, null: false, limit: 40
    t.decimal :price, precision: 10, scale: 2, default: 1.5
    t.jsonb :data
    t.text :tags, array: true
    t.timestamps
  end
  add_index :cities, :name, unique: true
  add_index :cities, "lower(name)", name: "by_lower"
  create_table :visits do |t|
    t.references :city, foreign_key: true
    t.integer :n
  end
  add_column :visits, :at, :datetime
  change_column :visits, :n, :bigint
  remove_column :visits, :at
end

class City < ActiveRecord::Base
  has_many :visits
end

class Visit < ActiveRecord::Base
  belongs_to :city
end

class Fare < ActiveRecord::Base
  self.primary_key = "city"
end

City.create!(name: "Ulm", data: { a: 1 }, tags: ["x", "y"])
City.insert_all([{ name: "Ulm", created_at: Time.now, updated_at: Time.now }, { name: "Bonn", created_at: Time.now, updated_at: Time.now }])
ulm = City.find_by!(name: "Ulm")
ulm.visits.create!(n: 3)
ulm.with_lock { ulm.update!(price: 2) }
check(City.count == 2 && City.where("lower(name) LIKE ?", "u%").pluck(:price) == [2], City.all.to_a)
check(City.joins(:visits).group(:name).sum(:n) == { "Ulm" => 3 }, Visit.all.to_a)
check(City.where(id: ulm.id).explain, "EXPLAIN")
check(ActiveRecord::Base.connection.tables.sort.include?("cities"), ActiveRecord::Base.connection.tables)
check(ActiveRecord::Base.connection.indexes("cities").map(&:name).include?("by_lower"), "indexes")

base = ActiveRecord::Base.connection
base.execute("CREATE FOREIGN TABLE trips (city int, fare numeric(10,2)) SERVER stream")
base.execute("CREATE VIEW fares AS SELECT city, count(*) AS n, sum(fare) AS total FROM trips GROUP BY city")
base.exec_query("INSERT INTO trips VALUES ($1, $2), (1, 3)", "SQL", [1, 2])
check(Fare.find(1).total == 5, Fare.all.to_a)
base.execute("DROP FOREIGN TABLE trips CASCADE")
base.execute("DROP TABLE IF EXISTS visits, cities, schema_migrations, ar_internal_metadata")
